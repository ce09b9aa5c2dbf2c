"""Memory for AI agents that people can read, trust and version.

`Heirloom` and `AsyncHeirloom` are clients of a server that `heirloom serve` starts. The adapters are modules of their own, each with an
extra: `heirloom_memory.langgraph`, `heirloom_memory.openai_agents`, `heirloom_memory.anthropic`.
"""

from .aio import AsyncHeirloom, AsyncItems, AsyncSession
from .client import Heirloom, Items, Session
from .errors import (
    ConflictError,
    ForbiddenError,
    HeirloomError,
    ImpostorError,
    InvalidError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
    WaitsError,
)
from .types import Conversation, Found, Hit, Item, Kept, Memory, Message, Outcome, Page, Recalled

__all__ = [
    "AsyncHeirloom",
    "AsyncItems",
    "AsyncSession",
    "ConflictError",
    "Conversation",
    "ForbiddenError",
    "Found",
    "Heirloom",
    "HeirloomError",
    "Hit",
    "ImpostorError",
    "InvalidError",
    "Item",
    "Items",
    "Kept",
    "Memory",
    "Message",
    "NotFoundError",
    "Outcome",
    "Page",
    "Recalled",
    "Session",
    "UnauthenticatedError",
    "UnavailableError",
    "WaitsError",
]
