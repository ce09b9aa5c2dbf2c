"""mem0's published clients for Python, sync and async, against the server: every call, every shape.

Comes in: the server's address, a token that may store facts, one that may write only, one that may remove. Goes out: a line for each thing tried.
"""

import asyncio
import logging
import os
import sys
import tempfile
import warnings

os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=tempfile.mkdtemp(), NO_PROXY="*")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from mem0 import AsyncMemoryClient, MemoryClient  # noqa: E402
from mem0.exceptions import MemoryNotFoundError, ValidationError  # noqa: E402

URL, FACTS, WRITES, DELETES = sys.argv[1:5]
HOST = f"{URL}/mem0"


def told(name, run):
    try:
        run()
        print(f"passed: mem0 for Python: {name}")
    except Exception as error:  # noqa: BLE001
        print(f"failed: mem0 for Python: {name}: {type(error).__name__}: {error}")


def fails(kind, run, code=None):
    try:
        run()
    except kind as error:
        assert code is None or error.details.get("code") == code, error.details
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def texts(found):
    return sorted(one["memory"] for one in found["results"])


def a_key_that_is_nobodys():
    fails(ValueError, lambda: MemoryClient(api_key="nobody", host=HOST))


def round_trip():
    client = MemoryClient(api_key=FACTS, host=HOST)
    added = client.add(
        [{"role": "user", "content": "I like green tea"}, {"role": "assistant", "content": "Noted: green tea"}],
        user_id="ann",
        metadata={"k": "v"},
    )
    assert added["status"] == "SUCCEEDED" and "word for word" in added["message"], added
    assert [one["event"] for one in added["results"]] == ["ADD", "ADD"], added
    assert [one["memory"] for one in added["results"]] == ["I like green tea", "Noted: green tea"], added
    memory = added["results"][0]["id"]
    client.add("Bob uses vim", filters={"user_id": "bob"})
    found = client.search("green tea", filters={"user_id": "ann"}, top_k=5)
    assert found["results"][0]["score"] > 0 and all(one["user_id"] == "ann" for one in found["results"]), found
    one = client.get(memory)
    assert one["memory"] == "I like green tea" and one["metadata"] == {"k": "v"} and one["user_id"] == "ann", one
    page = client.get_all(filters={"AND": [{"user_id": "ann"}]}, page=1, page_size=1)
    assert page["count"] == 2 and len(page["results"]) == 1 and page["next"] and page["previous"] is None, page
    page = client.get_all(filters={"user_id": "ann"}, page=2, page_size=1)
    assert len(page["results"]) == 1 and page["next"] is None and page["previous"], page
    assert client.update(memory, text="I like black tea")["memory"] == "I like black tea"
    assert client.get(memory)["memory"] == "I like black tea"
    steps = [(step["event"], step["old_memory"], step["new_memory"]) for step in client.history(memory)]
    assert steps == [("ADD", None, "I like green tea"), ("UPDATE", "I like green tea", "I like black tea")], steps
    users = [(one["type"], one["name"], one["total_memories"]) for one in client.users()["results"]]
    assert users == [("user", "ann", 2), ("user", "bob", 1)], users
    several = client.batch_update([{"memory_id": memory, "text": "I like white tea"}])
    assert "1" in several["message"] and client.get(memory)["memory"] == "I like white tea"
    assert client.delete(memory)["message"]
    fails(MemoryNotFoundError, lambda: client.get(memory))
    assert [step["event"] for step in client.history(memory)][-1] == "DELETE"
    client.delete_all(user_id="ann")
    assert client.get_all(filters={"user_id": "ann"})["count"] == 0
    assert texts(client.get_all(filters={"user_id": "bob"})) == ["Bob uses vim"]
    client.delete_users(user_id="bob")
    assert client.users()["results"] == []


def filters():
    client = MemoryClient(api_key=FACTS, host=HOST)
    client.add("tea at seven", user_id="f1", agent_id="coach", metadata={"n": 1, "kind": "drink"})
    client.add("coffee at nine", user_id="f1", metadata={"n": 2, "kind": "drink"})
    client.add("run at ten", user_id="f2", run_id="r1", metadata={"n": 3})

    def of(filters):
        return texts(client.get_all(filters=filters))

    assert of({"user_id": "f1"}) == ["coffee at nine", "tea at seven"]
    assert of({"AND": [{"user_id": "f1"}, {"agent_id": "coach"}]}) == ["tea at seven"]
    assert of({"OR": [{"agent_id": "coach"}, {"run_id": "r1"}]}) == ["run at ten", "tea at seven"]
    assert of({"AND": [{"user_id": "*"}, {"NOT": [{"user_id": "f1"}]}]}) == ["run at ten"]
    assert of({"AND": [{"user_id": "f1"}, {"metadata": {"n": 2}}]}) == ["coffee at nine"]
    assert of({"user_id": {"in": ["f1", "f2"]}, "n": {"gte": 2}}) == ["coffee at nine", "run at ten"]
    assert of({"user_id": "nobody"}) == []
    for bad in ({}, {"metadata": {"n": 1}}, {"n": 1}):
        fails(ValidationError, lambda: client.get_all(filters=bad), "VALIDATION_ERROR")
        fails(ValidationError, lambda: client.search("tea", filters=bad), "VALIDATION_ERROR")
    fails(ValidationError, lambda: client.get_all(), "VALIDATION_ERROR")
    client.reset()
    assert client.users()["results"] == []


def refusals():
    client = MemoryClient(api_key=FACTS, host=HOST)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    fails(ValidationError, lambda: client.add("x", user_id="ann", infer=True), "VALIDATION_ERROR")
    error = fails(ValidationError, lambda: client.add(f"the key is {secret}", user_id="ann"), "GATE_REFUSED")
    assert secret not in str(error) and secret not in str(error.details)
    fails(ValidationError, lambda: client.add("x"), "VALIDATION_ERROR")
    fails(MemoryNotFoundError, lambda: client.get("nope"), "NOT_FOUND")
    fails(MemoryNotFoundError, lambda: client.update("nope", text="x"), "NOT_FOUND")
    fails(ValueError, lambda: client.search("q", user_id="ann"))
    fails(ValidationError, lambda: client.delete_all(), "VALIDATION_ERROR")
    fails(ValidationError, lambda: client.delete_all(user_id="*"), "VALIDATION_ERROR")
    assert client.get_all(filters={"user_id": "ann"})["count"] == 0


def ends():
    client = MemoryClient(api_key=WRITES, host=HOST)
    added = client.add("this ends by itself", user_id="ann")
    assert added["results"][0]["expires_at"], added
    assert client.get(added["results"][0]["id"])["expires_at"]
    client.delete_all(user_id="ann")


def gone():
    client = MemoryClient(api_key=DELETES, host=HOST)
    memory = client.add("removed for good", user_id="ann")["results"][0]["id"]
    client.batch_delete([{"memory_id": memory}])
    fails(MemoryNotFoundError, lambda: client.history(memory), "NOT_FOUND")


def asynchronous():
    async def go():
        async with AsyncMemoryClient(api_key=FACTS, host=HOST) as client:
            added = await client.add("an async fact about bicycles", user_id="z")
            memory = added["results"][0]["id"]
            found = await client.search("bicycles", filters={"user_id": "z"})
            assert found["results"][0]["id"] == memory, found
            assert (await client.get_all(filters={"user_id": "z"}))["count"] == 1
            assert (await client.update(memory, text="about trains"))["memory"] == "about trains"
            assert (await client.get(memory))["memory"] == "about trains"
            assert len(await client.history(memory)) == 2
            assert [one["name"] for one in (await client.users())["results"]] == ["z"]
            await client.delete(memory)
            await client.delete_all(user_id="z")
            assert (await client.get_all(filters={"user_id": "z"}))["count"] == 0

    asyncio.run(go())


told("a key that is nobody's is refused", a_key_that_is_nobodys)
told("the whole round trip", round_trip)
told("filters nest", filters)
told("what is refused says why", refusals)
told("without the scope facts a memory says when it ends", ends)
told("with the scope delete a memory is gone", gone)
told("the async client does the round trip", asynchronous)
