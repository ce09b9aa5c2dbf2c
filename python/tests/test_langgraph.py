"""LangGraph's store: its own tests with the class replaced, random operations beside its InMemoryStore, and questions."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest

pytest.importorskip("langgraph.store.base", reason="the registry has no langgraph-checkpoint")

from langgraph.store.base import (  # noqa: E402
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore  # noqa: E402

from heirloom_memory import Heirloom  # noqa: E402
from heirloom_memory.langgraph import HeirloomStore  # noqa: E402

from .conftest import Place  # noqa: E402

# The tests of the source distribution that bring no embedder of their own: 19 functions of 31.
WITHOUT_EMBEDDER = 19


def emptied(client: Heirloom) -> HeirloomStore:
    """A store with nothing in it."""
    while items := client.items.search(limit=100):
        client.items.batch([{"op": "delete", "namespace": list(i.namespace), "key": i.key} for i in items])
    return HeirloomStore(client)


@pytest.fixture
def store(memory: Heirloom) -> HeirloomStore:
    return emptied(memory)


REPLACED = '''
import os
import pytest
import langgraph.store.memory
from heirloom_memory import Heirloom
from heirloom_memory.langgraph import HeirloomStore

_client = Heirloom(os.environ["HEIRLOOM_URL"])


class InMemoryStore(HeirloomStore):
    """Empty when it is made, as the one in memory."""

    def __init__(self) -> None:
        while items := _client.items.search(limit=100):
            _client.items.batch([{"op": "delete", "namespace": list(i.namespace), "key": i.key} for i in items])
        super().__init__(_client)

    def batch(self, ops):
        return super().batch(ops)

    async def abatch(self, ops):
        return self.batch(ops)


langgraph.store.memory.InMemoryStore = InMemoryStore


def pytest_collection_modifyitems(config, items):
    without = [item for item in items if "fake_embeddings" not in item.fixturenames]
    functions = {item.function.__name__ for item in without}
    print(f"functions without an embedder: {len(functions)}")
    items[:] = without
'''


@pytest.fixture
def their_tests(tmp_path: Path) -> Path:
    """The tests of the source distribution, unpacked, with our class under the name of theirs."""
    archives = list(Path(os.environ.get("LANGGRAPH_SDIST", "/nowhere")).glob("langgraph_checkpoint-*.tar.gz"))
    if not archives:
        pytest.skip("the registry has no source distribution of langgraph-checkpoint")
    subprocess.run(["tar", "-xzf", str(archives[0]), "-C", str(tmp_path), "--strip-components=1"], check=True)
    (tmp_path / "conftest.py").write_text(REPLACED)
    # The installed package counts, not the sources beside the tests.
    (tmp_path / "langgraph").rename(tmp_path / "sources")
    return tmp_path


def test_langgraphs_own_store_tests_pass_with_the_class_replaced(place: Place, their_tests: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    ran = subprocess.run(
        [*words, "-s", "tests/test_store.py"],
        cwd=their_tests,
        env={
            **os.environ,
            "HEIRLOOM_URL": place.url,
            "PYTHONPATH": str(Path(__file__).parents[1]),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout[-6000:]
    assert f"functions without an embedder: {WITHOUT_EMBEDDER}" in ran.stdout
    print(ran.stdout.splitlines()[-1])


LABELS = ["a", "b", "users", "käse", "a_%"]
# No `True`: in Python it equals 1, in JSON it does not.
FIELDS: list[Any] = [1, 2.5, "x", "yes", None, False, [1, "x"], {"in": 1}]


def operation(dice: random.Random) -> Op:
    """Any operation, over few names, so that they meet."""

    def namespace(least: int = 1) -> tuple[str, ...]:
        return tuple(dice.choices(LABELS, k=dice.randint(least, 3)))

    key = dice.choice(["k1", "k2", "key 3"])
    kind = dice.choices(["put", "delete", "get", "search", "list"], weights=[45, 12, 18, 15, 10])[0]
    if kind == "put":
        value = {name: dice.choice(FIELDS) for name in dice.sample(["n", "s", "t"], dice.randint(0, 3))}
        return PutOp(namespace(), key, {**value, "rank": dice.randint(0, 9)})
    if kind == "delete":
        return PutOp(namespace(), key, None)
    if kind == "get":
        return GetOp(namespace(), key)
    if kind == "search":
        filter = dice.choice(
            [
                None,
                {"n": dice.choice(FIELDS)},
                {"rank": {dice.choice(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"]): dice.randint(0, 9)}},
                {"s": {"$ne": "x"}, "rank": {"$gte": 3}},
            ]
        )
        return SearchOp(namespace(0)[: dice.randint(0, 2)], filter=filter, limit=1000)
    conditions = [
        MatchCondition(dice.choice(["prefix", "suffix"]), tuple(dice.choices([*LABELS, "*"], k=dice.randint(1, 2))))
        for _ in range(dice.randint(0, 2))
    ]
    depth = dice.choice([None, 1, 2, 3])
    return ListNamespacesOp(
        match_conditions=tuple(conditions) or None,
        max_depth=depth,
        limit=dice.choice([1, 3, 1000]),
        offset=dice.choice([0, 0, 1, 4]),
    )


def plain(result: Any) -> Any:
    """A result without times, and found items in the order of their names, which no store promises."""
    if isinstance(result, list) and result and not isinstance(result[0], tuple):
        return sorted((item.namespace, item.key, json.dumps(item.value, sort_keys=True)) for item in result)
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


class Reference(InMemoryStore):
    """The store in memory, which also lists namespaces that somebody only looked at: those are left out."""

    def _handle_list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        for namespace in [name for name, items in self._data.items() if not items]:
            del self._data[namespace]
        return super()._handle_list_namespaces(op)


def test_a_thousand_random_operations_do_what_the_store_in_memory_does(store: HeirloomStore) -> None:
    seed = int(os.environ.get("HEIRLOOM_SEED", random.randrange(1 << 32)))
    print(f"HEIRLOOM_SEED={seed}")
    dice, reference, done = random.Random(seed), Reference(), 0
    while done < 1000:
        ops = [operation(dice) for _ in range(dice.choice([1, 1, 2, 5, 20]))]
        expected = [plain(result) for result in reference.batch(ops)]
        assert [plain(result) for result in store.batch(ops)] == expected, (seed, done, ops)
        done += len(ops)
    everything = SearchOp((), limit=1000)
    assert plain(store.batch([everything])[0]) == plain(reference.batch([everything])[0])


def test_pages_of_a_search_are_the_whole_without_overlap(store: HeirloomStore) -> None:
    for at in range(11):
        store.put(("pages",), f"k{at}", {"at": at})
    pages = [store.search(("pages",), limit=4, offset=offset) for offset in (0, 4, 8)]
    keys = [item.key for page in pages for item in page]
    assert [len(page) for page in pages] == [4, 4, 3] and len(set(keys)) == 11


def test_a_batch_beyond_what_a_request_takes_is_sent_in_parts(store: HeirloomStore) -> None:
    large = [PutOp(("large",), str(at), {"text": f"{at} " + "word " * 20_000}, index=False) for at in range(15)]
    store.batch([*large, *(PutOp(("many",), str(at), {"at": at}) for at in range(600))])
    assert len(store.search(("large",), limit=100)) == 15 and len(store.search(("many",), limit=1000)) == 600


def test_a_changed_item_keeps_when_it_was_made(store: HeirloomStore) -> None:
    store.put(("times",), "k", {"n": 1})
    first = store.get(("times",), "k")
    store.put(("times",), "k", {"n": 2})
    second = store.get(("times",), "k")
    assert first is not None and second is not None and second.value == {"n": 2}
    assert first.created_at == second.created_at <= second.updated_at
    assert first.created_at.tzinfo is not None


@pytest.fixture
def animals(store: HeirloomStore) -> Iterator[HeirloomStore]:
    texts = {
        "cat": "The cat sleeps on the warm sofa all afternoon",
        "deploy": "Deploy the payment service on Friday with a canary release",
        "tea": "She drinks green tea with jasmine every morning",
    }
    for key, text in texts.items():
        store.put(("notes", "mine"), key, {"text": text, "sort": "animal" if key == "cat" else "other"})
    yield store


def test_a_question_puts_the_item_that_answers_it_first(animals: HeirloomStore) -> None:
    for question, key in (("green tea in the morning", "tea"), ("payment canary release", "deploy")):
        found = animals.search(("notes",), query=question)
        assert found[0].key == key and found[0].score is not None
        scores = [item.score for item in found if item.score is not None]
        assert scores == sorted(scores, reverse=True)


def test_a_question_respects_filter_prefix_and_limit(animals: HeirloomStore) -> None:
    animals.put(("elsewhere",), "tea", {"text": "green tea"})
    found = animals.search(("notes",), query="green tea", filter={"sort": "animal"})
    assert [item.key for item in found] == ["cat"]
    assert [item.namespace for item in animals.search(("notes",), query="green tea", limit=1)] == [("notes", "mine")]


def test_a_changed_item_is_found_by_its_new_text_only(animals: HeirloomStore) -> None:
    before = {item.key: item.score for item in animals.search(("notes",), query="green tea jasmine")}
    animals.put(("notes", "mine"), "tea", {"text": "The printer needs toner"})
    assert animals.search(("notes",), query="printer toner")[0].key == "tea"
    after = {item.key: item.score for item in animals.search(("notes",), query="green tea jasmine")}
    assert (after.get("tea") or 0) < (before["tea"] or 0)


def test_only_the_named_fields_are_searched_and_false_leaves_an_item_out(store: HeirloomStore) -> None:
    store.put(("f",), "named", {"title": "volcano", "body": "penguin"}, index=["title"])
    store.put(("f",), "none", {"title": "volcano penguin"}, index=False)
    store.put(("f",), "all", {"title": "harbour", "body": "lighthouse"})
    by_title = store.search(("f",), query="volcano")
    assert by_title[0].key == "named" and by_title[0].score is not None
    scores = {item.key: item.score for item in by_title}
    assert scores.get("none") is None
    by_body = {item.key: item.score or 0 for item in store.search(("f",), query="penguin")}
    assert by_body.get("named", 0) < (by_title[0].score or 0)


def test_texts_of_other_scripts_are_found(store: HeirloomStore) -> None:
    texts = ["这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है"]
    for at, text in enumerate(texts):
        store.put(("scripts",), str(at), {"text": text})
    for at, text in enumerate(texts):
        assert store.search(("scripts",), query=text)[0].key == str(at), text


def test_an_item_expires_after_its_time(store: HeirloomStore) -> None:
    store.put(("short",), "k", {"n": 1}, ttl=60)
    item = store.client.items.get(("short",), "k")
    assert item.expires_at is not None and item.expires_at > item.created_at


def test_another_users_token_sees_no_item(place: Place, store: HeirloomStore) -> None:
    store.put(("walls",), "k", {"n": 1})
    stranger = HeirloomStore(Heirloom(place.url, token=place.user_token("stranger", "read,write,facts")))
    assert stranger.get(("walls",), "k") is None and stranger.search(()) == [] and stranger.list_namespaces() == []
    stranger.delete(("walls",), "k")
    stranger.put(("walls",), "k", {"n": 2})
    kept = store.get(("walls",), "k")
    assert kept is not None and kept.value == {"n": 1}


async def test_a_graph_runs_with_the_store(store: HeirloomStore) -> None:
    graphs = pytest.importorskip("langgraph.graph", reason="the registry has no langgraph")

    class State(TypedDict):
        text: str

    async def remember(state: State, *, store: BaseStore) -> State:
        await store.aput(("users", "ann"), "drink", {"text": state["text"]})
        found = await store.asearch(("users",), query="tea")
        return {"text": found[0].value["text"] + "!"}

    builder = graphs.StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(graphs.START, "remember")
    builder.add_edge("remember", graphs.END)
    graph = builder.compile(store=store)
    assert (await graph.ainvoke({"text": "green tea"}))["text"] == "green tea!"
