"""LangGraph's `BaseStore` on Heirloom's items.

    from heirloom_memory.langgraph import HeirloomStore
    graph = builder.compile(store=HeirloomStore())

Namespaces are labels inside the token's user: nobody reaches another user's values through one. With the scope `facts` values are
stored at once; without it they expire as turns do. Questions are answered with the server's own model, so there is no `index`
argument; `put(..., index=["field"])` and `index=False` work as in every store.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from .client import Heirloom
from .types import Json

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        validate_op_namespace,
    )
except ModuleNotFoundError as missing:
    raise ImportError(
        "heirloom_memory.langgraph needs LangGraph: pip install 'heirloom-memory[langgraph]'"
    ) from missing

# Operations and bytes of one request; the server takes 1,000 and 1 MiB.
_BATCH = 500
_BYTES = 700_000


class HeirloomStore(BaseStore):
    """A store in which reads of a batch see what was there before it, and of several writes to one key the last one counts."""

    supports_ttl = True

    def __init__(self, client: Heirloom | None = None) -> None:
        """`client` is a `Heirloom` of your own; without one, that of the server on this machine."""
        self.client = client or Heirloom()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        all_ops = list(ops)
        for op in all_ops:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(all_ops)
        reads = [(at, op) for at, op in enumerate(all_ops) if not isinstance(op, PutOp)]
        for (at, op), answer in zip(reads, self._send([_read(op) for _, op in reads]), strict=True):
            results[at] = _result(op, answer)
        last = {(op.namespace, op.key): op for op in all_ops if isinstance(op, PutOp)}
        self._send([_write(op) for op in last.values()])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        # The client is safe in threads, and its connections outlive an event loop.
        return await asyncio.to_thread(self.batch, list(ops))

    def _send(self, operations: list[Json]) -> list[Json | None]:
        answers: list[Json | None] = []
        part: list[Json] = []
        size = 0
        for operation in operations:
            length = len(json.dumps(operation))
            if part and (len(part) == _BATCH or size + length > _BYTES):
                answers += self.client.items.batch(part)
                part, size = [], 0
            part.append(operation)
            size += length
        return answers + self.client.items.batch(part) if part else answers


def _read(op: Op) -> Json:
    if isinstance(op, GetOp):
        return {"op": "get", "namespace": list(op.namespace), "key": op.key}
    if isinstance(op, SearchOp):
        asked: Json = {
            "op": "search",
            "namespace_prefix": list(op.namespace_prefix),
            "limit": op.limit,
            "offset": op.offset,
        }
        if op.query:
            asked["query"] = op.query
        return {**asked, "filter": op.filter} if op.filter else asked
    if isinstance(op, ListNamespacesOp):
        conditions = [
            {"match": condition.match_type, "path": list(condition.path)}
            for condition in op.match_conditions or ()
        ]
        asked = {"op": "namespaces", "conditions": conditions, "limit": op.limit, "offset": op.offset}
        return {**asked, "max_depth": op.max_depth} if op.max_depth is not None else asked
    raise ValueError(f"Unknown operation type: {type(op)}")


def _write(op: PutOp) -> Json:
    place: Json = {"namespace": list(op.namespace), "key": op.key}
    if op.value is None:
        return {"op": "delete", **place}
    put = {"op": "put", **place, "value": dict(op.value)}
    if op.index is not None:
        put["index"] = False if op.index is False else list(op.index)
    if op.ttl is not None:
        put["ttl_minutes"] = op.ttl
    return put


def _result(op: Op, answer: Json | None) -> Result:
    if isinstance(op, GetOp):
        return None if answer is None else Item(**_parts(answer))
    found = answer or {}
    if isinstance(op, SearchOp):
        return [SearchItem(**_parts(item), score=item.get("score")) for item in found["items"]]
    return [tuple(namespace) for namespace in found["namespaces"]]


def _parts(item: Json) -> dict[str, Any]:
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": datetime.fromisoformat(item["created_at"]),
        "updated_at": datetime.fromisoformat(item["updated_at"]),
    }
