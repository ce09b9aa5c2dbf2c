"""`Heirloom`: a client that waits for each answer.

It sends the requests of `_calls` and raises the exceptions of `errors`. It may be used from several threads. It follows no redirects,
and to a server on this machine it uses no proxy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from . import _access, _calls
from ._calls import Call
from ._shared import PAGE, Shared
from .types import (
    Change,
    Conversation,
    Filters,
    Found,
    Item,
    Json,
    Kept,
    Memory,
    Message,
    NewMemory,
    Outcome,
    Page,
    Recalled,
    SearchOptions,
    SessionMessage,
)

T = TypeVar("T")


class Heirloom(Shared):
    """A client that waits for each answer.

    >>> with Heirloom() as memory:
    ...     memory.add("decision", "Use PostgreSQL because we need jsonb")
    ...     print(memory.recall("which database?").block)
    """

    def _open(self) -> None:
        self._http = httpx.Client(**self._options)
        self.items = Items(self)

    def _send(self, call: Call[T]) -> T:
        try:
            if self._must_prove():
                sent = _access.nonce()
                self._prove(sent, self._http.request(**self._challenge(sent)))
            response = self._http.request(**self._request(call))
        except httpx.TransportError as why:
            raise self._unreachable(why) from why
        return self._answered(call, response)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(
        self, kind: str, text: str, *, idempotency_key: str | None = None, **new: Unpack[NewMemory]
    ) -> Outcome:
        """Saves a memory. With `idempotency_key`, the same call within a day runs once."""
        return self._send(_calls.add(kind, text, new, idempotency_key))

    def get(self, id: str) -> Memory:
        """A memory by its whole id."""
        return self._send(_calls.get(id))

    def update(self, id: str, *, version: str, **change: Unpack[Change]) -> Outcome:
        """Changes a memory. `version` is the one that was read; if it changed since, `ConflictError`."""
        return self._send(_calls.update(id, version, change))

    def retire(self, id: str, *, reason: str | None = None) -> Outcome:
        """Takes a memory out of use; `restore` puts it back."""
        return self._send(_calls.move(id, "retire", reason))

    def restore(self, id: str, *, reason: str | None = None) -> Outcome:
        """Puts a retired memory back into use."""
        return self._send(_calls.move(id, "restore", reason))

    def forget(self, id: str) -> Json:
        """Removes every trace of a memory, for good. Needs the scope `delete`."""
        return self._send(_calls.forget(id))

    def page(self, *, limit: int = PAGE, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """One page of memories; `list` goes through all of them."""
        return self._send(_calls.page(filters, limit, cursor))

    def list(self, **filters: Unpack[Filters]) -> Iterator[Memory]:
        """All memories that meet the filters, fetched page by page."""
        cursor: str | None = None
        while True:
            page = self.page(cursor=cursor, **filters)
            yield from page.memories
            if (cursor := page.next) is None:
                return

    def search(self, query: str, **options: Unpack[SearchOptions]) -> Found:
        """Memories that fit the words, best first."""
        return self._send(_calls.search(query, options))

    def recall(self, prompt: str, *, session: str | None = None, max_chars: int | None = None) -> Recalled:
        """What an agent should know for this prompt, as a labelled block. A `session` is not given twice what it has."""
        return self._send(_calls.recall(prompt, session, max_chars))

    def session(self, name: str) -> Session:
        """Working memory of a running conversation."""
        return Session(self, name)

    def memory_tool(self, command: Json) -> str:
        """A command of Anthropic's memory tool: view, create, str_replace, insert, delete or rename."""
        return self._send(_calls.memory_tool(command))

    def request(self, method: str, path: str, *, body: Json | None = None, query: Json | None = None) -> Any:
        """Any other path of the server; `GET /openapi.json` lists them."""
        return self._send(_calls.ask(method, path, body, query))


class Session:
    """Working memory of one conversation: in the server's process, gone when that ends."""

    def __init__(self, client: Heirloom, name: str) -> None:
        self._client = client
        self.name = name

    def append(self, *messages: SessionMessage) -> Kept:
        """Keeps messages; the oldest ones make room."""
        return self._client._send(_calls.append(self.name, messages))

    def read(self) -> Conversation:
        """The messages that are kept, oldest first."""
        return self._client._send(_calls.read(self.name))

    def pop(self) -> Message | None:
        """Takes the newest message out."""
        return self._client._send(_calls.pop(self.name))

    def clear(self) -> int:
        """Ends the conversation; how many messages there were."""
        return self._client._send(_calls.clear(self.name))


class Items:
    """JSON values under namespaces and keys, the token's user's own."""

    def __init__(self, client: Heirloom) -> None:
        self._client = client

    def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Json,
        *,
        index: bool | Sequence[str] | None = None,
        ttl_minutes: float | None = None,
    ) -> Item:
        """Stores a value in place of the one that is there. `index` names the fields that questions look into; False none."""
        return self._client._send(_calls.put_item(namespace, key, value, index, ttl_minutes))

    def get(self, namespace: Sequence[str], key: str) -> Item:
        """The value under a key, or `NotFoundError`."""
        return self._client._send(_calls.get_item(namespace, key))

    def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Deletes a value; whether there was one."""
        return self._client._send(_calls.delete_item(namespace, key))

    def search(
        self,
        namespace_prefix: Sequence[str] = (),
        *,
        query: str | None = None,
        filter: Json | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[Item]:
        """Values below a namespace that meet a filter, the nearest to `query` first."""
        return self._client._send(_calls.search_items(namespace_prefix, query, filter, limit, offset))

    def namespaces(
        self,
        *,
        conditions: Sequence[Json] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Namespaces with values. A condition is `{"match": "prefix" or "suffix", "path": [...]}`; `*` stands for any label."""
        return self._client._send(_calls.item_namespaces(conditions, max_depth, limit, offset))

    def batch(self, operations: Sequence[Json]) -> list[Json | None]:
        """Several operations in one request, in their order."""
        return self._client._send(_calls.item_batch(operations))
