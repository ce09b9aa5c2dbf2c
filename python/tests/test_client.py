"""The two clients against the real server."""

from __future__ import annotations

import asyncio
import http.server
import inspect
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import heirloom_memory
from heirloom_memory import (
    AsyncHeirloom,
    AsyncItems,
    AsyncSession,
    ConflictError,
    Heirloom,
    HeirloomError,
    ImpostorError,
    InvalidError,
    Items,
    NotFoundError,
    Session,
    UnauthenticatedError,
    UnavailableError,
)

from .conftest import Place


def test_a_memory_is_added_read_changed_with_its_version_retired_and_restored(memory: Heirloom) -> None:
    added = memory.add("decision", "Use Kafka for events because they are replayed", tags=["events"])
    assert not added.waits and added.version
    read = memory.get(added.id)
    assert (read.kind, read.tags, read.version) == ("decision", ["events"], added.version)
    changed = memory.update(added.id, version=read.version, tags=["stream"], message="Say how")
    assert changed.version not in (None, read.version)
    with pytest.raises(ConflictError) as stale:
        memory.update(added.id, version=read.version, tags=["late"])
    assert (stale.value.status, stale.value.code) == (412, "OCC_CONFLICT") and stale.value.hint
    assert memory.retire(added.id, reason="Replaced").status == "retired"
    assert memory.get(added.id).status == "retired"
    assert memory.restore(added.id).status == "restored"
    assert "late" not in memory.get(added.id).tags


def test_the_list_goes_through_every_page(memory: Heirloom, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = {
        memory.add("runbook", f"Restart part {at} because it leaks", fields={"steps": "x", "verification": "y"}).id
        for at in range(7)
    }
    pages = []
    page = memory.page
    monkeypatch.setattr(memory, "page", lambda **asked: pages.append(asked) or page(**{**asked, "limit": 3}))
    listed = [one.id for one in memory.list(kind="runbook")]
    assert len(listed) == len(set(listed)) and ids <= set(listed) and len(pages) >= 3


def test_search_gives_hits_with_scores_and_recall_a_block(memory: Heirloom) -> None:
    memory.add("constraint", "Call the billing API at most 40 times a minute because of the contract")
    found = memory.search("billing api", limit=3)
    assert "billing" in found.hits[0].id and found.hits[0].score and found.hits[0].why
    recalled = memory.recall("the billing api answers 429")
    assert recalled.block.startswith("<memory-context") and "40 times" in recalled.block
    assert [hit.id for hit in recalled.hits] == [found.hits[0].id]


def test_search_goes_on_behind_a_page_and_gives_the_block_of_turns_and_facts(memory: Heirloom) -> None:
    for at in range(5):
        memory.add("episode", f"We spoke of the harbour crane number {at}")
    first = memory.search("harbour crane", tier="episodic", limit=3)
    assert len(first.hits) == 3 and first.next
    rest = memory.search("harbour crane", tier="episodic", limit=3, cursor=first.next)
    assert not {hit.id for hit in first.hits} & {hit.id for hit in rest.hits}
    assert "harbour" in (memory.search("harbour crane", context=True).block or "")


def test_working_memory_keeps_words_and_opaque_items(memory: Heirloom) -> None:
    session = memory.session("chat / 1")
    assert session.read().new
    kept = session.append({"speaker": "user", "content": "Hello"}, {"speaker": "tool", "item": {"n": [1, None]}})
    assert (kept.count, kept.new) == (2, True)
    first, second = session.read().messages
    assert (first.speaker, first.content, second.item) == ("user", "Hello", {"n": [1, None]})
    popped = session.pop()
    assert popped is not None and popped.item == {"n": [1, None]}
    assert session.clear() == 1 and session.pop() is None


def test_the_same_idempotency_key_stores_once(memory: Heirloom) -> None:
    text = "Deploy on Tuesdays because support is there"
    first = memory.add("decision", text, idempotency_key="once-1")
    assert memory.add("decision", text, idempotency_key="once-1").id == first.id
    assert sum(one.id.startswith("decision:deploy-on-tuesdays") for one in memory.list(kind="decision")) == 1


def test_errors_carry_code_status_and_hint_and_never_the_secret(memory: Heirloom) -> None:
    with pytest.raises(NotFoundError) as missing:
        memory.get("decision:nothing-of-the-kind")
    assert (missing.value.code, missing.value.status) == ("NOT_FOUND", 404) and "next:" in str(missing.value)
    secret = "gh" + "p_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"
    with pytest.raises(InvalidError) as refused:
        memory.add("decision", f"Deploy with {secret} because it is quick")
    assert refused.value.code == "GATE_REFUSED" and secret not in repr(refused.value) + str(refused.value)
    with pytest.raises(InvalidError):
        memory.request("POST", "/v1/recall", body={"nothing": 1})


def test_a_token_comes_from_the_argument_the_variable_or_the_token_file(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = place.token_file.read_text().strip()
    assert Heirloom(place.url)._access.token == own
    monkeypatch.setenv("HEIRLOOM_TOKEN", "from-the-variable")
    assert Heirloom(place.url)._access.token == "from-the-variable"
    assert Heirloom(place.url, token="given")._access.token == "given"
    with pytest.raises(UnauthenticatedError) as unknown:
        Heirloom(place.url, token="given").search("x")
    assert unknown.value.status == 401
    assert "given" not in repr(Heirloom(place.url, token="given"))
    monkeypatch.delenv("HEIRLOOM_TOKEN")
    with pytest.raises(UnauthenticatedError):
        Heirloom("https://memory.example.com")


def test_a_token_file_that_others_can_read_is_not_used(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "heirloom" / "server"
    shutil.copytree(place.token_file.parent, copy)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Heirloom(place.url).search("x")
    (copy / place.token_file.name).chmod(0o640)
    with pytest.raises(PermissionError, match="chmod 600"):
        Heirloom(place.url)
    (copy / place.token_file.name).unlink()
    (copy / place.token_file.name).symlink_to(place.token_file)
    with pytest.raises(OSError):
        Heirloom(place.url)


class _Impostor(http.server.BaseHTTPRequestHandler):
    seen: list[str | None] = []

    def do_GET(self) -> None:
        self.seen.append(self.headers["Authorization"])
        body = json.dumps({"proof": "0" * 64}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def impostor() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), _Impostor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _Impostor.seen.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_whoever_else_listens_on_the_port_gets_no_token(place: Place, impostor: str) -> None:
    with pytest.raises(ImpostorError):
        Heirloom(impostor, token="mine").search("x")
    with pytest.raises(ImpostorError):
        asyncio.run(AsyncHeirloom(impostor, token="mine").search("x"))
    assert _Impostor.seen == [None, None]
    with pytest.raises(KeyError):
        Heirloom(impostor, token="mine", prove=False).search("x")
    assert _Impostor.seen[-1] == "Bearer mine"


def test_a_proxy_of_the_environment_gets_no_token_for_a_server_on_this_machine(
    place: Place, impostor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", impostor)
    assert Heirloom(place.url).recall("x").prompt == "x"
    assert _Impostor.seen == []


def test_a_server_that_is_not_there_is_an_error_with_a_next_step() -> None:
    with pytest.raises(UnavailableError) as gone:
        Heirloom("http://127.0.0.1:9", token="x", prove=False).search("x")
    assert gone.value.code == "UNREACHABLE" and "heirloom serve" in gone.value.hint
    with pytest.raises(ValueError):
        Heirloom("127.0.0.1:7411", token="x")


async def test_the_async_client_does_the_same(amemory: AsyncHeirloom) -> None:
    async with amemory as memory:
        added = await memory.add("decision", "Use RabbitMQ for jobs because it is there")
        version = (await memory.get(added.id)).version
        assert (await memory.update(added.id, version=version, tags=["jobs"])).status == "updated"
        assert added.id in [one.id async for one in memory.list(kind="decision")]
        assert (await memory.search("rabbitmq jobs")).hits[0].id == added.id
        assert "RabbitMQ" in (await memory.recall("which queue for jobs, rabbitmq?")).block
        session = memory.session("async")
        await session.append({"speaker": "user", "content": "Hi"})
        assert [message.content for message in (await session.read()).messages] == ["Hi"]
        assert await session.clear() == 1
        with pytest.raises(NotFoundError):
            await memory.get("decision:none")


def test_an_async_client_outlives_its_event_loop(amemory: AsyncHeirloom) -> None:
    for _ in range(2):
        assert asyncio.run(amemory.recall("x")).prompt == "x"


@pytest.mark.parametrize("plain, its", [(Heirloom, AsyncHeirloom), (Session, AsyncSession), (Items, AsyncItems)])
def test_both_clients_have_the_same_methods_and_arguments(plain: type, its: type) -> None:
    def methods(one: type) -> dict[str, list[str]]:
        found = inspect.getmembers(one, inspect.isfunction)
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in found
            if not name.startswith("_") and name not in ("close", "aclose")
        }

    assert methods(plain) == methods(its)


def test_every_route_the_clients_use_is_in_the_servers_description(memory: Heirloom) -> None:
    from heirloom_memory import _calls

    described = {
        (method.upper(), path)
        for path, methods in memory.request("GET", "/openapi.json")["paths"].items()
        for method in methods
    }
    used = [
        _calls.add("k", "t", {}, None),
        _calls.get("{id}"),
        _calls.update("{id}", "v", {}),
        _calls.move("{id}", "retire", None),
        _calls.move("{id}", "restore", None),
        _calls.forget("{id}"),
        _calls.page({}, 1, None),
        _calls.search("q", {}),
        _calls.recall("p", None, None),
        _calls.append("{session}", []),
        _calls.read("{session}"),
        _calls.pop("{session}"),
        _calls.clear("{session}"),
        _calls.put_item([], "k", {}, None, None),
        _calls.get_item([], "k"),
        _calls.delete_item([], "k"),
        _calls.search_items([], None, None, 1, 0),
        _calls.item_namespaces([], None, 1, 0),
        _calls.item_batch([]),
        _calls.memory_tool({}),
    ]
    for call in used:
        path = call.path.replace("%7B", "{").replace("%7D", "}")
        assert (call.method, path) in described


def test_everything_public_is_exported_and_errors_are_one_family() -> None:
    for name in heirloom_memory.__all__:
        thing = getattr(heirloom_memory, name)
        if name.endswith("Error"):
            assert issubclass(thing, HeirloomError)
