"""What the server answers, as plain values.

A field that a newer server adds is ignored, one that is missing has its default. Times are ISO 8601 texts, as the server gives them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self, TypedDict

Json = dict[str, Any]
Speaker = Literal["system", "user", "assistant", "tool"]
Trust = Literal["low", "medium", "high"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Reads itself from an answer."""

    @classmethod
    def of(cls, data: Json) -> Self:
        return cls(**{part.name: data[part.name] for part in fields(cls) if part.name in data})


@dataclass(frozen=True, kw_only=True)
class Memory(Answer):
    """A memory of any kind. `version` is what `update` wants."""

    id: str
    kind: str
    title: str
    body: str
    version: str
    tags: list[str] = field(default_factory=list)
    scope: str = ""
    source: str = ""
    trust: Trust = "low"
    status: str = "active"
    content_hash: str = ""
    fields: Json = field(default_factory=dict)
    applies_to: list[str] = field(default_factory=list)
    owner: str | None = None
    confidence: float | None = None
    path: str | None = None
    occurred_at: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    expires_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class Hit(Memory):
    """A memory that fits a question, with its score and what it is made of."""

    score: float | None = None
    why: list[Json] = field(default_factory=list)
    snippet: Json | None = None


@dataclass(frozen=True, kw_only=True)
class Found(Answer):
    """A page of the answer to a search, best first; `next` is the cursor of the following one. `block` is there if `context` was asked for."""

    ranking: str
    hits: list[Hit]
    block: str | None = None
    next: str | None = None

    @classmethod
    def of(cls, data: Json) -> Self:
        return cls(
            ranking=data["ranking"],
            hits=[Hit.of(hit) for hit in data["hits"]],
            block=(data.get("context") or {}).get("block"),
            next=data.get("next"),
        )


@dataclass(frozen=True, kw_only=True)
class Recalled(Answer):
    """What an agent is given for a prompt: `block` is ready to be put into it, and empty if nothing fits."""

    prompt: str
    block: str
    hits: list[Hit]

    @classmethod
    def of(cls, data: Json) -> Self:
        hits = [Hit.of(hit) for hit in data["hits"]]
        return cls(prompt=data["prompt"], block=data.get("block") or "", hits=hits)


@dataclass(frozen=True, kw_only=True)
class Page(Answer):
    """A page of memories; `next` is the cursor of the following one."""

    memories: list[Memory]
    next: str | None = None

    @classmethod
    def of(cls, data: Json) -> Self:
        return cls(memories=[Memory.of(one) for one in data["memories"]], next=data.get("next"))


@dataclass(frozen=True, kw_only=True)
class Outcome(Answer):
    """What became of a write. With `waits` nothing was changed: a person decides in `heirloom review`, where `key` names it."""

    status: str
    id: str
    version: str | None = None
    path: str | None = None
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    key: str | None = None
    why: list[str] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        return self.status == "waits"


@dataclass(frozen=True, kw_only=True)
class Message(Answer):
    """A message in working memory: words, or an `item` of your own form."""

    speaker: Speaker
    content: str = ""
    item: Json | None = None
    trust: Trust = "low"
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Conversation(Answer):
    """A running conversation, oldest message first. `new` says that nothing is kept of it, as after a restart of the server."""

    session: str
    messages: list[Message]
    tokens: int = 0
    trust: Trust = "low"
    new: bool = False

    @classmethod
    def of(cls, data: Json) -> Self:
        messages = [Message.of(message) for message in data["messages"]]
        return cls(
            session=data["session"],
            messages=messages,
            tokens=data.get("tokens", 0),
            trust=data.get("trust", "low"),
            new=data.get("new", False),
        )


@dataclass(frozen=True, kw_only=True)
class Kept(Answer):
    """What is in working memory after an append. `dropped` older messages made room."""

    session: str
    count: int
    tokens: int = 0
    dropped: int = 0
    new: bool = False


@dataclass(frozen=True, kw_only=True)
class Item(Answer):
    """A JSON value under a namespace and a key. `score` is there in answers to a question."""

    namespace: tuple[str, ...]
    key: str
    value: Json
    created_at: str
    updated_at: str
    id: str | None = None
    expires_at: str | None = None
    score: float | None = None

    @classmethod
    def of(cls, data: Json) -> Self:
        return super().of({**data, "namespace": tuple(data["namespace"])})


class NewMemory(TypedDict, total=False):
    """What may be said of a new memory beside its kind and text."""

    title: str
    fields: dict[str, str]
    tags: list[str]
    topic: str
    scope: str
    category: str
    subject: str
    source: str
    files: list[str]
    confidence: float
    at: str
    cites: list[str]
    dry_run: bool


class Change(TypedDict, total=False):
    """What may be changed in a memory."""

    title: str
    text: str
    fields: dict[str, str]
    tags: list[str]
    topic: str
    category: str
    message: str


class Filters(TypedDict, total=False):
    """Which memories are listed."""

    kind: str
    status: Literal["active", "retired", "archived", "superseded", "all"]
    tag: str
    scope: str
    tier: Literal["episodic", "semantic"]
    session: str


class SearchOptions(TypedDict, total=False):
    """How to search beside the words."""

    kind: str
    include_retired: bool
    limit: int
    cursor: str
    tier: Literal["episodic", "semantic", "all"]
    session: str
    context: bool


class SessionMessage(TypedDict, total=False):
    """A message for working memory: `content`, or an `item` of your own form."""

    speaker: Speaker
    content: str
    item: Json
    external: bool
