"""A session of the OpenAI Agents SDK, with a model that follows a script."""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
agents = pytest.importorskip("agents", reason="the registry has no openai-agents")

from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool  # noqa: E402
from agents.memory import Session  # noqa: E402
from agents.models.interface import Model  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from heirloom_memory import AsyncHeirloom  # noqa: E402
from heirloom_memory.openai_agents import HeirloomSession  # noqa: E402

from .conftest import Place  # noqa: E402


def say(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


class Scripted(Model):
    """Answers from a script and remembers what it was given."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.given: list[list[Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.given.append(list(input))
        return ModelResponse(output=[self.script.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@function_tool
def weather(city: str) -> str:
    """The weather."""
    return f"Rain in {city}"


async def converse(session: Any) -> tuple[list[Any], list[Any]]:
    """Two turns with a tool between them; what the model was given last, and what is kept."""
    call = ResponseFunctionToolCall(
        type="function_call", call_id="c1", name="weather", arguments='{"city": "Kyiv"}', id="f1"
    )
    model = Scripted(call, say("Take an umbrella."), say("You asked about Kyiv."))
    agent = Agent(name="a", instructions="Be brief.", model=model, tools=[weather])
    first = await Runner.run(agent, "What is the weather in Kyiv?", session=session)
    assert first.final_output == "Take an umbrella."
    second = await Runner.run(agent, "Which city did I ask about?", session=session)
    assert second.final_output == "You asked about Kyiv."
    return model.given[-1], await session.get_items()


async def test_a_run_with_a_tool_goes_on_as_with_the_sdks_own_session(amemory: AsyncHeirloom) -> None:
    ours, theirs = HeirloomSession("run", amemory), SQLiteSession("run")
    assert isinstance(ours, Session)
    given, kept = await converse(ours)
    assert (given, kept) == await converse(theirs)
    assert [item.get("type", item.get("role")) for item in kept] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
        "message",
    ]


async def test_items_come_back_as_they_were_and_the_limit_takes_the_latest(amemory: AsyncHeirloom) -> None:
    ours, theirs = HeirloomSession("items", amemory), SQLiteSession("items")
    items: list[Any] = [
        {"role": "user", "content": [{"type": "input_text", "text": "größer"}]},
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": None},
        {"role": "developer", "content": "Be kind"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
    ]
    for session in (ours, theirs):
        await session.add_items(items)
    for limit in (None, 0, 1, 2, 4, 9):
        assert await ours.get_items(limit) == await theirs.get_items(limit)
    assert await ours.get_items() == items
    assert await ours.pop_item() == await theirs.pop_item() == items[-1]
    await ours.clear_session()
    assert await ours.get_items() == [] and await ours.pop_item() is None
    assert (await HeirloomSession("items", amemory, session_settings={"limit": 1}).get_items()) == []


async def test_a_session_has_the_limit_of_its_settings_and_no_other_user_reads_it(
    place: Place, amemory: AsyncHeirloom
) -> None:
    session = HeirloomSession("shared-name", amemory, session_settings={"limit": 1})
    await session.add_items([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
    assert await session.get_items() == [{"role": "user", "content": "two"}]
    stranger = AsyncHeirloom(place.url, token=place.user_token("reader", "read,write"))
    assert await HeirloomSession("shared-name", stranger).get_items() == []


async def test_a_secret_in_an_item_is_cut_out(amemory: AsyncHeirloom) -> None:
    session = HeirloomSession("secret", amemory)
    secret = "gh" + "p_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"
    await session.add_items([{"role": "user", "content": f"use {secret}"}])
    assert secret not in str(await session.get_items())
