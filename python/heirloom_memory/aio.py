"""`AsyncHeirloom`: the client for programs that run in an event loop.

Method by method the same as `client.Heirloom`. It may be used from one event loop after the other, each time with fresh connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
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


class AsyncHeirloom(Shared):
    """A client for programs that run in an event loop.

    >>> async with AsyncHeirloom() as memory:
    ...     await memory.add("decision", "Use PostgreSQL because we need jsonb")
    ...     print((await memory.recall("which database?")).block)
    """

    def _open(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self.items = AsyncItems(self)

    async def _send(self, call: Call[T]) -> T:
        http = self._current()
        try:
            if self._must_prove():
                sent = _access.nonce()
                self._prove(sent, await http.request(**self._challenge(sent)))
            response = await http.request(**self._request(call))
        except httpx.TransportError as why:
            raise self._unreachable(why) from why
        return self._answered(call, response)

    def _current(self) -> httpx.AsyncClient:
        """The connections of the running loop: those of a loop that ended are of no use."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._http = loop, httpx.AsyncClient(**self._options)
        return self._http

    async def aclose(self) -> None:
        if self._loop is asyncio.get_running_loop():
            await self._http.aclose()
        self._loop = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def add(
        self, kind: str, text: str, *, idempotency_key: str | None = None, **new: Unpack[NewMemory]
    ) -> Outcome:
        """Saves a memory. With `idempotency_key`, the same call within a day runs once."""
        return await self._send(_calls.add(kind, text, new, idempotency_key))

    async def get(self, id: str) -> Memory:
        """A memory by its whole id."""
        return await self._send(_calls.get(id))

    async def update(self, id: str, *, version: str, **change: Unpack[Change]) -> Outcome:
        """Changes a memory. `version` is the one that was read; if it changed since, `ConflictError`."""
        return await self._send(_calls.update(id, version, change))

    async def retire(self, id: str, *, reason: str | None = None) -> Outcome:
        """Takes a memory out of use; `restore` puts it back."""
        return await self._send(_calls.move(id, "retire", reason))

    async def restore(self, id: str, *, reason: str | None = None) -> Outcome:
        """Puts a retired memory back into use."""
        return await self._send(_calls.move(id, "restore", reason))

    async def forget(self, id: str) -> Json:
        """Removes every trace of a memory, for good. Needs the scope `delete`."""
        return await self._send(_calls.forget(id))

    async def page(self, *, limit: int = PAGE, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """One page of memories; `list` goes through all of them."""
        return await self._send(_calls.page(filters, limit, cursor))

    async def list(self, **filters: Unpack[Filters]) -> AsyncIterator[Memory]:
        """All memories that meet the filters, fetched page by page."""
        cursor: str | None = None
        while True:
            page = await self.page(cursor=cursor, **filters)
            for memory in page.memories:
                yield memory
            if (cursor := page.next) is None:
                return

    async def search(self, query: str, **options: Unpack[SearchOptions]) -> Found:
        """Memories that fit the words, best first."""
        return await self._send(_calls.search(query, options))

    async def recall(self, prompt: str, *, session: str | None = None, max_chars: int | None = None) -> Recalled:
        """What an agent should know for this prompt, as a labelled block. A `session` is not given twice what it has."""
        return await self._send(_calls.recall(prompt, session, max_chars))

    def session(self, name: str) -> AsyncSession:
        """Working memory of a running conversation."""
        return AsyncSession(self, name)

    async def memory_tool(self, command: Json) -> str:
        """A command of Anthropic's memory tool: view, create, str_replace, insert, delete or rename."""
        return await self._send(_calls.memory_tool(command))

    async def request(self, method: str, path: str, *, body: Json | None = None, query: Json | None = None) -> Any:
        """Any other path of the server; `GET /openapi.json` lists them."""
        return await self._send(_calls.ask(method, path, body, query))


class AsyncSession:
    """Working memory of one conversation: in the server's process, gone when that ends."""

    def __init__(self, client: AsyncHeirloom, name: str) -> None:
        self._client = client
        self.name = name

    async def append(self, *messages: SessionMessage) -> Kept:
        """Keeps messages; the oldest ones make room."""
        return await self._client._send(_calls.append(self.name, messages))

    async def read(self) -> Conversation:
        """The messages that are kept, oldest first."""
        return await self._client._send(_calls.read(self.name))

    async def pop(self) -> Message | None:
        """Takes the newest message out."""
        return await self._client._send(_calls.pop(self.name))

    async def clear(self) -> int:
        """Ends the conversation; how many messages there were."""
        return await self._client._send(_calls.clear(self.name))


class AsyncItems:
    """JSON values under namespaces and keys, the token's user's own."""

    def __init__(self, client: AsyncHeirloom) -> None:
        self._client = client

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Json,
        *,
        index: bool | Sequence[str] | None = None,
        ttl_minutes: float | None = None,
    ) -> Item:
        """Stores a value in place of the one that is there. `index` names the fields that questions look into; False none."""
        return await self._client._send(_calls.put_item(namespace, key, value, index, ttl_minutes))

    async def get(self, namespace: Sequence[str], key: str) -> Item:
        """The value under a key, or `NotFoundError`."""
        return await self._client._send(_calls.get_item(namespace, key))

    async def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Deletes a value; whether there was one."""
        return await self._client._send(_calls.delete_item(namespace, key))

    async def search(
        self,
        namespace_prefix: Sequence[str] = (),
        *,
        query: str | None = None,
        filter: Json | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[Item]:
        """Values below a namespace that meet a filter, the nearest to `query` first."""
        return await self._client._send(_calls.search_items(namespace_prefix, query, filter, limit, offset))

    async def namespaces(
        self,
        *,
        conditions: Sequence[Json] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Namespaces with values. A condition is `{"match": "prefix" or "suffix", "path": [...]}`; `*` stands for any label."""
        return await self._client._send(_calls.item_namespaces(conditions, max_depth, limit, offset))

    async def batch(self, operations: Sequence[Json]) -> list[Json | None]:
        """Several operations in one request, in their order."""
        return await self._client._send(_calls.item_batch(operations))
