"""The vault's work in plain Python with json and difflib, timed. Arguments: vault file, text to add, runs.

Prints one JSON object: seconds (wall and processor, best run) for each piece of work, and what came out, to be compared.
"""

import json
import os
import re
import sys
import time
from difflib import SequenceMatcher

path, new_text, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
WORD = re.compile(r"\w+")


def resolve():
    latest = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line:
                record = json.loads(line)
                known = latest.get(record["id"])
                if known is None or record["version"] > known["version"]:
                    latest[record["id"]] = record
    return latest


def active(latest):
    return [r for r in latest.values() if r["deleted_at"] is None and r["scope"] == "shared"]


def snapshot(latest):
    lines = ["## Memory Snapshot", "", "### Canon"]
    lines += ["- " + r["text"] for r in active(latest) if r["tier"] == "canon"]
    lines += ["", "### Active Registers"]
    lines += [f"- [{r['topic_id']}] {r['text']}" for r in active(latest) if r["tier"] == "register" and r.get("topic_id")]
    return "\n".join(lines)


def duplicate(latest, text):
    lower = text.lower()
    words = set(WORD.findall(lower))
    for record in active(latest):
        stored = record["text"].lower()
        other = set(WORD.findall(stored))
        smaller = min(len(words), len(other))
        if smaller and len(words & other) / smaller >= 0.60:
            return record["id"]
        matcher = SequenceMatcher(None, lower, stored)
        # The library's own cheap bounds, so that it is not made to look slower than it has to be.
        if matcher.real_quick_ratio() >= 0.70 and matcher.quick_ratio() >= 0.70 and matcher.ratio() >= 0.70:
            return record["id"]
    return None


def best(work, after=None):
    """The best wall time and the best processor time, and the result."""
    walls, cpus = [], []
    result = None
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        if after:
            after(result)
    return [min(walls), min(cpus)], result


def add(text):
    """Appends a text that is no duplicate and waits for the disk; says how long the file was before."""
    latest = resolve()
    if duplicate(latest, text) is None:
        with open(path, "a", encoding="utf-8") as vault:
            length = vault.tell()
            record = {"id": "f" * 12, "version": 1, "scope": "shared", "tier": "canon", "deleted_at": None, "text": text}
            vault.write(json.dumps(record, ensure_ascii=False) + "\n")
            vault.flush()
            os.fdatasync(vault.fileno())
        return length


def cut_back(length):
    os.truncate(path, length)


open_time, latest = best(resolve)
snapshot_time, block = best(lambda: snapshot(resolve()))
gate_time, twin = best(lambda: duplicate(latest, new_text))
add_time, _ = best(lambda: add(new_text), cut_back)
print(json.dumps({
    "open": open_time, "snapshot": snapshot_time, "gate": gate_time, "add": add_time,
    "ids": len(latest), "active": len(active(latest)), "bullets": block.count("\n- "), "duplicate": twin,
}))
