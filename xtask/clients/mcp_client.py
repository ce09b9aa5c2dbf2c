"""The official Python SDK against the MCP doors: lists and calls every tool in every mode, over both transports.

Usage: mcp_client.py PROGRAM PROJECT [URL TOKEN_FILE]
"""
import asyncio
import os
import sys

from mcp import Client, StdioServerParameters, stdio_client

PROGRAM, PROJECT = sys.argv[1:3]
URL = sys.argv[3] if len(sys.argv) > 3 else None


def stdio():
    return stdio_client(StdioServerParameters(command=PROGRAM, args=["mcp", "--project", PROJECT], env=dict(os.environ)))


def http():
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    token = open(sys.argv[4]).read().strip()
    return streamable_http_client(URL, http_client=httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30))


async def story(label, target, mode):
    async with Client(target, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8, len(tools)

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content[0].text)
            assert result.structured_content["project"]["id"], name
            return result.structured_content

        words = f"{label} {mode}".replace("/", " ")
        added = await call("add_memory", kind="decision", text=f"Use the {words} client because it is official", tags=["sdk"])
        found = await call("search_memories", query=words)
        assert any(hit["id"] == added["id"] for hit in found["hits"]), found
        got = await call("get_memory", ids=[added["id"]])
        version = got["memories"][0]["version"]
        changed = await call("update_memory", id=added["id"], version=version, tags=["changed"])
        assert changed["version"] != version
        listed = await call("list_memories", kind="decision")
        assert listed["memories"]
        await call("recall", prompt=f"which {words} client do we use?")
        await call("session_memory", action="append", session=words, messages=[{"role": "user", "content": "hello"}])
        await call("session_memory", action="clear", session=words)
        await call("retire_memory", id=added["id"], reason="the test is over")
        for name, wrong in (("search_memories", {"query": " "}), ("get_memory", {"ids": "not-a-list"}), ("get_memory", {"ids": ["decision:none"]})):
            refused = await client.call_tool(name, wrong)
            assert refused.is_error and refused.structured_content["error"]["next"], (name, refused)
        resources = (await client.list_resources()).resources
        for resource in resources[:3]:
            assert (await client.read_resource(str(resource.uri))).contents[0].text
        assert len((await client.list_prompts()).prompts) == 3
        print(f"passed: python {label} {mode} {getattr(client, 'protocol_version', '')}")


async def main():
    failed = 0
    doors = [("stdio", stdio)] + ([("http", http)] if URL else [])
    for mode in ("auto", "legacy", "2026-07-28"):
        for label, door in doors:
            try:
                await asyncio.wait_for(story(label, door(), mode), 60)
            except BaseException as wrong:  # noqa: BLE001: whatever it is, it is told
                failed += 1
                inner = [str(one)[:300] for one in getattr(wrong, "exceptions", [])]
                print(f"failed: python {label} {mode}: {type(wrong).__name__} {str(wrong)[:300]} {inner}")
    sys.exit(1 if failed else 0)


asyncio.run(main())
