"""A `Session` of the OpenAI Agents SDK in Heirloom's working memory.

    from heirloom_memory.openai_agents import HeirloomSession
    await Runner.run(agent, "Hello", session=HeirloomSession("chat-1"))

Items are kept as they are, except that secrets are cut out of them. Working memory lives in the server's process and is bounded by its
settings (`tiers.working_messages`, `tiers.working_tokens`, `tiers.working_minutes`): whole turns at the start of a conversation make room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .aio import AsyncHeirloom
from .types import Json, SessionMessage, Speaker

try:
    from agents.memory import SessionSettings
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
except ModuleNotFoundError as missing:
    raise ImportError(
        "heirloom_memory.openai_agents needs the OpenAI Agents SDK: pip install 'heirloom-memory[openai-agents]'"
    ) from missing

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

# As many messages as one request takes.
_APPEND = 1000

_SPEAKERS: dict[str, Speaker] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


class HeirloomSession:
    """The history of one conversation."""

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        client: AsyncHeirloom | None = None,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self.client = client or AsyncHeirloom()
        self._session = self.client.session(session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history, oldest first; with a limit only the latest items."""
        most = resolve_session_limit(limit, self.session_settings)
        kept = [message.item for message in (await self._session.read()).messages if message.item is not None]
        if most is not None and most >= 0:
            kept = kept[len(kept) - most :] if most < len(kept) else kept
        return cast("list[TResponseInputItem]", kept)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items to the end of the history."""
        messages = [_message(cast(Json, item)) for item in items]
        for at in range(0, len(messages), _APPEND):
            await self._session.append(*messages[at : at + _APPEND])

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest item out."""
        message = await self._session.pop()
        return None if message is None else cast("TResponseInputItem | None", message.item)

    async def clear_session(self) -> None:
        """Ends the conversation."""
        await self._session.clear()


def _message(item: Json) -> SessionMessage:
    """Who said it: a role says so; without one it is the model's call, or what a tool answered."""
    role = item.get("role")
    if isinstance(role, str):
        speaker = _SPEAKERS.get(role, "user")
    else:
        speaker = "tool" if str(item.get("type", "")).endswith("_output") else "assistant"
    return {"speaker": speaker, "item": dict(item)}
