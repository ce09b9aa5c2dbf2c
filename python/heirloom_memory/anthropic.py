"""Anthropic's memory tool on Heirloom.

    from heirloom_memory.anthropic import HeirloomMemoryTool
    client.beta.messages.tool_runner(..., tools=[HeirloomMemoryTool()])

`/memories/<shelf>/…` is a read-only view of what the project and the user already remember; any other path below `/memories` is a note of
the model's own. The answers are those of the SDK's own tool on local files, word for word; what is written passes the gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .aio import AsyncHeirloom
from .client import Heirloom
from .errors import HeirloomError
from .types import Json

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ModuleNotFoundError as missing:
    raise ImportError(
        "heirloom_memory.anthropic needs Anthropic's SDK: pip install 'heirloom-memory[anthropic]'"
    ) from missing

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )


class HeirloomMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for `Anthropic`."""

    def __init__(
        self, client: Heirloom | None = None, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.client = client or Heirloom()

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._run(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._run(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(command)

    def _run(self, command: BetaMemoryTool20250818Command) -> str:
        try:
            return self.client.memory_tool(_sent(command))
        except HeirloomError as error:
            raise _told(error) from error


class AsyncHeirloomMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`."""

    def __init__(
        self, client: AsyncHeirloom | None = None, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.client = client or AsyncHeirloom()

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._run(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._run(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self._run(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self._run(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._run(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._run(command)

    async def _run(self, command: BetaMemoryTool20250818Command) -> str:
        try:
            return await self.client.memory_tool(_sent(command))
        except HeirloomError as error:
            raise _told(error) from error


def _sent(command: BetaMemoryTool20250818Command) -> Json:
    """The fields that the model gave."""
    return command.to_dict(exclude_none=True)


def _told(error: HeirloomError) -> ToolError:
    """What the model is told: the text of the tool for the tool's own errors; for the gate, a missing right or a lost connection
    the next step as well."""
    own = error.status in (400, 404, 409, 422) and error.code != "GATE_REFUSED"
    return ToolError(error.message if own else str(error))
