"""The scripted commands of fixtures/memory-tool, through Anthropic's own example for local files and through a server.

Usage: memory_tool.py RECORDED [URL TOKEN]   compares; a line `passed: …` or `failed: …` for each thing that was tried
       memory_tool.py --record RECORDED        writes what the example answers
"""

import json
import sys
import tempfile
import urllib.error
import urllib.request

from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

SHELVES = {"facts", "lessons", "notes", "records", "vault"}


def plain(text):
    """Without what depends on the disk (the size of a folder), and without the folders that show shelves."""
    if not text.startswith("Here're the files"):
        return text
    head, root, *lines = text.split("\n")
    out = [head, "4K\t" + root.split("\t", 1)[1]]
    for line in lines:
        size, path = line.split("\t", 1)
        if path.strip("/").split("/")[-1] in SHELVES and path.count("/") == 3:
            continue
        out.append(f"4K\t{path}" if path.endswith("/") else line)
    return "\n".join(out)


def by_example(commands):
    with tempfile.TemporaryDirectory() as folder:
        tool = BetaLocalFilesystemMemoryTool(folder)
        for command in commands:
            try:
                yield {"text": plain(tool.call(command))}
            except Exception as error:  # what the tool raises is what a model is given
                yield {"error": str(error)}


def by_server(commands, url, token):
    for command in commands:
        request = urllib.request.Request(
            f"{url}/v1/memory-tool",
            data=json.dumps(command).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                yield {"text": plain(json.load(answer)["text"])}
        except urllib.error.HTTPError as error:
            yield {"error": json.load(error)["detail"]}


def compared(name, commands, wanted, got):
    wrong = [
        f"{json.dumps(command)}\n    wanted {json.dumps(a)}\n    got    {json.dumps(b)}"
        for command, a, b in zip(commands, wanted, got)
        if a != b
    ]
    if wrong:
        print("\n  ".join(["  differ:", *wrong[:5]]))
        print(f"failed: memory tool, {name}: {len(wrong)} of {len(commands)} texts differ")
    else:
        print(f"passed: memory tool, {name}: {len(commands)} texts are the same")
    return not wrong


def main():
    if sys.argv[1] == "--record":
        with open(sys.argv[2], encoding="utf-8") as file:
            commands = [row["command"] for row in json.load(file)]
        rows = [{"command": c, **answer} for c, answer in zip(commands, by_example(commands))]
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")
        return 0
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    commands = [row.pop("command") for row in rows]
    example = list(by_example(commands))
    fine = compared("the recorded texts and Anthropic's example", commands, example, rows)
    if len(sys.argv) > 2:
        fine &= compared("a server and Anthropic's example", commands, example, by_server(commands, *sys.argv[2:]))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
