"""What can go wrong, as exceptions.

Every answer of the server that is not a success becomes a `HeirloomError` with the server's stable `code`, the HTTP `status` and
the next step as `hint`. The subclasses follow the status, so that callers can catch what they can act on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class HeirloomError(Exception):
    """A request failed. `code` is stable, `hint` says what to do next; neither repeats a memory's text."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        hint: str = "",
        facts: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.hint = hint
        self.facts: dict[str, str] = dict(facts or {})
        self.retry_after = retry_after

    def __str__(self) -> str:
        text = f"{self.message} [{self.code}]"
        return f"{text}\n  next: {self.hint}" if self.hint else text


class InvalidError(HeirloomError):
    """The request cannot be carried out as it is: 400, 413, 415 and 422. The gate's refusals are here too."""


class UnauthenticatedError(HeirloomError):
    """There is no token, or the server does not know it: 401."""


class ForbiddenError(HeirloomError):
    """This token may not do that: 403."""


class NotFoundError(HeirloomError):
    """There is no such memory, item, session or project: 404."""


class ConflictError(HeirloomError):
    """Something changed since it was read, or the version is missing: 409, 412 and 428. Read again, then write."""


class UnavailableError(HeirloomError):
    """The server cannot answer now: 408, 429, 503 and 504, or nobody listens. Ask again after `retry_after` seconds."""


class WaitsError(HeirloomError):
    """Nothing was changed: a person decides first in `heirloom review`, where `facts["key"]` names it. Writes of memories answer with
    `Outcome.waits` instead."""


class ImpostorError(HeirloomError):
    """Whoever listens there could not prove to be this account's server, so no token was sent."""


_BY_STATUS: dict[int, type[HeirloomError]] = {
    400: InvalidError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    408: UnavailableError,
    409: ConflictError,
    412: ConflictError,
    413: InvalidError,
    415: InvalidError,
    422: InvalidError,
    428: ConflictError,
    429: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


def of_answer(status: int, body: object, retry_after: str | None) -> HeirloomError:
    """The exception for an answer, whatever its body is."""
    problem: Mapping[str, Any] = body if isinstance(body, dict) else {}
    facts = problem.get("facts")
    pairs = facts if isinstance(facts, list) else []
    seconds = retry_after if retry_after is not None and retry_after.isdigit() else None
    return _BY_STATUS.get(status, HeirloomError)(
        str(problem.get("detail") or f"the server answered with status {status}"),
        code=str(problem.get("code") or f"HTTP_{status}"),
        status=status,
        hint=str(problem.get("next") or ""),
        facts={str(fact.get("name")): str(fact.get("value")) for fact in pairs if isinstance(fact, dict)},
        retry_after=float(seconds) if seconds else None,
    )
