"""Anthropic's memory tool in its own loop, with a model that follows a script, beside the SDK's tool on local files."""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anthropic", reason="the registry has no anthropic")

from anthropic import Anthropic, AsyncAnthropic  # noqa: E402
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool  # noqa: E402

from heirloom_memory import AsyncHeirloom, Heirloom  # noqa: E402
from heirloom_memory.anthropic import AsyncHeirloomMemoryTool, HeirloomMemoryTool  # noqa: E402

LONG = "".join(f"line {at}\n" for at in range(1, 8))


def script(folder: str) -> list[dict[str, Any]]:
    """Commands below a folder: each kind, each of its errors."""
    at = f"/memories/{folder}"
    return [
        {"command": "create", "path": f"{at}/one.md", "file_text": "a single line"},
        {"command": "create", "path": f"{at}/one.md", "file_text": "again"},
        {"command": "view", "path": f"{at}/one.md"},
        {"command": "create", "path": f"{at}/deep/er/two.txt", "file_text": LONG},
        {"command": "view", "path": f"{at}/deep/er/two.txt"},
        {"command": "view", "path": f"{at}/deep/er/two.txt", "view_range": [2, 3]},
        {"command": "view", "path": f"{at}/deep/er/two.txt", "view_range": [6, -1]},
        {"command": "view", "path": at},
        {"command": "view", "path": f"{at}/deep"},
        {"command": "view", "path": f"{at}/missing.md"},
        {"command": "str_replace", "path": f"{at}/deep/er/two.txt", "old_str": "line 4", "new_str": "LINE 4\nmore"},
        {"command": "str_replace", "path": f"{at}/deep/er/two.txt", "old_str": "line", "new_str": "x"},
        {"command": "str_replace", "path": f"{at}/deep/er/two.txt", "old_str": "nowhere", "new_str": "x"},
        {"command": "str_replace", "path": f"{at}/deep", "old_str": "a", "new_str": "b"},
        {"command": "str_replace", "path": f"{at}/missing.md", "old_str": "a", "new_str": "b"},
        {"command": "insert", "path": f"{at}/one.md", "insert_line": 0, "insert_text": "# Title\n"},
        {"command": "insert", "path": f"{at}/one.md", "insert_line": 2, "insert_text": "last ünïcode"},
        {"command": "insert", "path": f"{at}/one.md", "insert_line": 9, "insert_text": "x"},
        {"command": "insert", "path": f"{at}/missing.md", "insert_line": 0, "insert_text": "x"},
        {"command": "view", "path": f"{at}/one.md"},
        {"command": "rename", "old_path": f"{at}/one.md", "new_path": f"{at}/moved/first.md"},
        {"command": "rename", "old_path": f"{at}/one.md", "new_path": f"{at}/nothing.md"},
        {"command": "rename", "old_path": f"{at}/deep/er/two.txt", "new_path": f"{at}/moved/first.md"},
        {"command": "view", "path": f"{at}/moved/first.md"},
        {"command": "rename", "old_path": f"{at}/deep", "new_path": f"{at}/deeper"},
        {"command": "view", "path": f"{at}/deeper/er/two.txt"},
        {"command": "delete", "path": f"{at}/moved/first.md"},
        {"command": "delete", "path": f"{at}/moved/first.md"},
        {"command": "delete", "path": "/memories"},
        {"command": "rename", "old_path": "/memories", "new_path": f"{at}/x"},
        {"command": "view", "path": "/etc/passwd"},
        {"command": "view", "path": f"{at}/../../../etc/passwd"},
        {"command": "delete", "path": f"{at}/deeper"},
        {"command": "view", "path": f"{at}/deeper/er/two.txt"},
    ]


class _Model(http.server.BaseHTTPRequestHandler):
    """The Messages API of a model that sends the commands of a script, one a turn, and keeps the results."""

    commands: list[dict[str, Any]] = []
    results: list[tuple[str, bool]] = []

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        last = asked["messages"][-1]["content"]
        for block in last if isinstance(last, list) else []:
            content = block["content"]
            text = content if isinstance(content, str) else "".join(part["text"] for part in content)
            self.results.append((text, bool(block.get("is_error"))))
        at = len(self.results)
        if at < len(self.commands):
            block = {"type": "tool_use", "id": f"t{at}", "name": "memory", "input": self.commands[at]}
            body = {"content": [block], "stop_reason": "tool_use"}
        else:
            body = {"content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}
        answer = json.dumps(
            {
                "id": f"m{at}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "usage": {"input_tokens": 1, "output_tokens": 1},
                **body,
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


REQUEST: dict[str, Any] = {
    "model": "scripted",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Remember this."}],
}


def in_the_loop(url: str, tool: Any, commands: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """What the model was told for each command."""
    _Model.commands, _Model.results = commands, []
    client = Anthropic(api_key="x", base_url=url)
    assert client.beta.messages.tool_runner(**REQUEST, tools=[tool]).until_done().stop_reason == "end_turn"
    return _Model.results


def without_folder_sizes(text: str) -> str:
    """Folders have the size that a file system happens to give them, also the first line, which is the folder that was asked for."""
    text = re.sub(r"(?m)^[0-9.]+[BKMG](\t.*/)$", r"?\1", text)
    return re.sub(r"(hidden items:\n)[0-9.]+[BKMG]\t", r"\1?\t", text)


def test_every_command_and_every_error_has_the_text_of_the_tool_on_local_files(
    model: str, memory: Heirloom, tmp_path: Path
) -> None:
    commands = script("project")
    ours = in_the_loop(model, HeirloomMemoryTool(memory), commands)
    theirs = in_the_loop(model, BetaLocalFilesystemMemoryTool(str(tmp_path)), commands)
    assert len(ours) == len(theirs) == len(commands)
    for command, mine, local in zip(commands, ours, theirs, strict=True):
        assert (without_folder_sizes(mine[0]), mine[1]) == (without_folder_sizes(local[0]), local[1]), command


async def test_the_async_tool_gives_the_same_texts(
    model: str, memory: Heirloom, amemory: AsyncHeirloom, tmp_path: Path
) -> None:
    commands = script("async")
    _Model.commands, _Model.results = commands, []
    client = AsyncAnthropic(api_key="x", base_url=model)
    runner = client.beta.messages.tool_runner(**REQUEST, tools=[AsyncHeirloomMemoryTool(amemory)])
    await runner.until_done()
    ours = [without_folder_sizes(text) for text, _ in _Model.results]
    theirs = in_the_loop(model, BetaLocalFilesystemMemoryTool(str(tmp_path)), commands)
    assert ours == [without_folder_sizes(text) for text, _ in theirs]


def test_the_shelves_can_be_read_and_not_written(model: str, memory: Heirloom) -> None:
    memory.add("decision", "Use NATS for signals because it is small", title="Use NATS for signals")
    told = in_the_loop(
        model,
        HeirloomMemoryTool(memory),
        [
            {"command": "view", "path": "/memories"},
            {"command": "create", "path": "/memories/records/mine.md", "file_text": "x"},
        ],
    )
    assert "/memories/records" in told[0][0] and not told[0][1]
    assert told[1][1], "a shelf was written"


def test_the_gate_cuts_a_secret_out_and_the_model_is_told(model: str, memory: Heirloom) -> None:
    secret = "gh" + "p_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"
    told = in_the_loop(
        model,
        HeirloomMemoryTool(memory),
        [
            {"command": "create", "path": "/memories/keys.md", "file_text": f"the key is {secret}"},
            {"command": "view", "path": "/memories/keys.md"},
        ],
    )
    first, *notes = told[0][0].splitlines()
    assert first == "File created successfully at: /memories/keys.md" and notes
    assert "the key is" in told[1][0] and not any(secret in text for text, _ in told)
