"""Every request the clients make, as a value: what is sent, and how the answer is read.

Both clients send these, so that neither can say something else. Nothing here touches the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

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


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request and how to read its answer, from the body and the version in its `ETag`."""

    method: str
    path: str
    read: Callable[[Any, str | None], T]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False
    """Whether `read` knows an answer that waits for a person."""


def _memory(id: str, *more: str) -> str:
    return "/".join(["/v1/memories", quote(id, safe=""), *more])


def _once(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def _written(body: Any, version: str | None) -> Outcome:
    return Outcome.of({**body, "version": version})


def add(kind: str, text: str, new: NewMemory, once: str | None) -> Call[Outcome]:
    return Call("POST", "/v1/memories", _written, body={"kind": kind, "text": text, **new}, headers=_once(once), waits=True)


def get(id: str) -> Call[Memory]:
    return Call("GET", _memory(id), lambda body, _: Memory.of(body))


def update(id: str, version: str, change: Change) -> Call[Outcome]:
    return Call("PATCH", _memory(id), _written, body=dict(change), headers={"If-Match": f'"{version}"'}, waits=True)


def move(id: str, where: str, reason: str | None) -> Call[Outcome]:
    return Call("POST", _memory(id, where), _written, body=_said(reason=reason), waits=True)


def forget(id: str) -> Call[Json]:
    return Call("DELETE", _memory(id), _as_it_is)


def page(filters: Filters, limit: int, cursor: str | None) -> Call[Page]:
    query = _said(limit=limit, cursor=cursor, **filters)
    return Call("GET", "/v1/memories", lambda body, _: Page.of(body), query=query)


def search(query: str, options: SearchOptions) -> Call[Found]:
    return Call("POST", "/v1/search", lambda body, _: Found.of(body), body={"query": query, **options})


def recall(prompt: str, session: str | None, max_chars: int | None) -> Call[Recalled]:
    body = _said(prompt=prompt, session=session, max_chars=max_chars)
    return Call("POST", "/v1/recall", lambda body, _: Recalled.of(body), body=body)


def _session(name: str, what: str) -> str:
    return f"/v1/sessions/{quote(name, safe='')}/{what}"


def append(session: str, messages: Sequence[SessionMessage]) -> Call[Kept]:
    return Call(
        "POST", _session(session, "messages"), lambda body, _: Kept.of(body), body={"messages": list(messages)}
    )


def read(session: str) -> Call[Conversation]:
    return Call("GET", _session(session, "messages"), lambda body, _: Conversation.of(body))


def pop(session: str) -> Call[Message | None]:
    def popped(body: Any, _: str | None) -> Message | None:
        return None if body["message"] is None else Message.of(body["message"])

    return Call("POST", _session(session, "pop"), popped)


def clear(session: str) -> Call[int]:
    return Call("DELETE", _session(session, "messages"), lambda body, _: int(body["cleared"]))


def put_item(
    namespace: Sequence[str], key: str, value: Json, index: bool | Sequence[str] | None, ttl: float | None
) -> Call[Item]:
    body = _said(namespace=list(namespace), key=key, value=value, index=_index(index), ttl_minutes=ttl)
    return Call("PUT", "/v1/items", lambda body, _: Item.of(body), body=body)


def get_item(namespace: Sequence[str], key: str) -> Call[Item]:
    return Call(
        "POST", "/v1/items/get", lambda body, _: Item.of(body), body={"namespace": list(namespace), "key": key}
    )


def delete_item(namespace: Sequence[str], key: str) -> Call[bool]:
    body = {"namespace": list(namespace), "key": key}
    return Call("POST", "/v1/items/delete", lambda body, _: bool(body["deleted"]), body=body)


def search_items(
    prefix: Sequence[str], query: str | None, filter: Json | None, limit: int, offset: int
) -> Call[list[Item]]:
    body = _said(namespace_prefix=list(prefix), query=query, filter=filter, limit=limit, offset=offset)
    return Call("POST", "/v1/items/search", lambda body, _: [Item.of(one) for one in body["items"]], body=body)


def item_namespaces(
    conditions: Sequence[Json], max_depth: int | None, limit: int, offset: int
) -> Call[list[tuple[str, ...]]]:
    body = _said(conditions=list(conditions), max_depth=max_depth, limit=limit, offset=offset)
    return Call(
        "POST", "/v1/items/namespaces", lambda body, _: [tuple(one) for one in body["namespaces"]], body=body
    )


def item_batch(operations: Sequence[Json]) -> Call[list[Json | None]]:
    return Call(
        "POST", "/v1/items/batch", lambda body, _: list(body["results"]), body={"operations": list(operations)}
    )


def memory_tool(command: Json) -> Call[str]:
    # What the gate cut out is told beside the text of the tool.
    def told(body: Any, _: str | None) -> str:
        return "\n".join([str(body["text"]), *body.get("notes", [])])

    return Call("POST", "/v1/memory-tool", told, body=command)


def ask(method: str, path: str, body: Json | None, query: Json | None) -> Call[Any]:
    return Call(method, path, _as_it_is, body=body, query=query or {}, waits=True)


def _as_it_is(body: Any, _: str | None) -> Any:
    return body


def _index(index: bool | Sequence[str] | None) -> bool | list[str] | None:
    # `True` is what the server does anyway.
    if isinstance(index, bool):
        return None if index else False
    return None if index is None else list(index)


def _said(**parts: Any) -> dict[str, Any]:
    """What was said; what is `None` is left out."""
    return {name: part for name, part in parts.items() if part is not None}
