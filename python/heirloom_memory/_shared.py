"""What both clients have in common: where the server is, who asks, how requests are made and answers read.

Nothing here sends anything.
"""

from __future__ import annotations

import time
from typing import Any, TypeVar

import httpx

from . import _access
from ._calls import Call
from .errors import UnavailableError, WaitsError, of_answer

T = TypeVar("T")

# A server that answered within this time is still the one that proved itself: connections are kept as long.
_PROVEN_SECONDS = 5.0
PAGE = 100


class Shared:
    """What both clients know: where, who, which project, and how answers are read."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float = 30.0,
        prove: bool = True,
    ) -> None:
        """`url` is http://127.0.0.1:7411 unless said. `token` is looked for in HEIRLOOM_TOKEN, then in the token file of a server on this
        machine. `project` is an id of `GET /v1/projects` where the server serves several. `prove=False` also speaks to a server on this
        machine that another account or a container runs."""
        self._access = _access.access(url or _access.DEFAULT_URL, token, prove=prove)
        self._project = project
        self._proven = float("-inf")
        self._options: dict[str, Any] = {
            "base_url": self._access.url,
            "timeout": timeout,
            "trust_env": not self._access.local,
            "limits": httpx.Limits(keepalive_expiry=_PROVEN_SECONDS),
        }
        self._open()

    def _open(self) -> None:
        """Makes what sends requests."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._access.url!r})"

    def _must_prove(self) -> bool:
        return self._access.key is not None and time.monotonic() - self._proven > _PROVEN_SECONDS

    def _request(self, call: Call[Any]) -> dict[str, Any]:
        query = dict(call.query)
        if self._project is not None:
            query["project"] = self._project
        headers = {"Authorization": f"Bearer {self._access.token}", **call.headers}
        request = {"method": call.method, "url": call.path, "params": query, "headers": headers}
        return request if call.body is None else {**request, "json": call.body}

    def _challenge(self, sent: str) -> dict[str, Any]:
        return {"method": "GET", "url": "/v1/proof", "params": {"nonce": sent}}

    def _prove(self, sent: str, response: httpx.Response) -> None:
        _access.check(self._access, sent, _body(response))
        self._proven = time.monotonic()

    def _answered(self, call: Call[T], response: httpx.Response) -> T:
        self._proven = time.monotonic() if self._proven > 0 else self._proven
        body = _body(response)
        if not response.is_success:
            raise of_answer(response.status_code, body, response.headers.get("retry-after"))
        if response.status_code == 202 and not call.waits:
            raise WaitsError(
                "this waits for a person; nothing was changed",
                code="NEEDS_CONFIRMATION",
                status=202,
                hint="a person decides with `heirloom review`",
                facts={"key": str(body.get("key", ""))} if isinstance(body, dict) else None,
            )
        version = response.headers.get("etag")
        return call.read(body, version.strip('"') if version else None)

    def _unreachable(self, why: httpx.TransportError) -> UnavailableError:
        self._proven = float("-inf")
        return UnavailableError(
            f"the server at {self._access.url} cannot be reached: {why or type(why).__name__}",
            code="UNREACHABLE",
            hint="start it with `heirloom serve`, or give the client its address",
        )


def _body(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None
