#!/usr/bin/env python3
"""Makes static-256.bin, the embedding table that is built into Heirloom.

    distill.py INPUTS OUT XTASK WEIGHTS

INPUTS   the folder fetch.sh filled
OUT      the table
XTASK    the project's `xtask` program, whose `embed` task is the teacher of whole texts
WEIGHTS  MiniLM as `heirloom model install` converts it

1. Every word piece goes through the teacher on its own; its vector is weighted by ln(1 + rank), since
   the vocabulary is ordered by frequency, and reduced to 256 dimensions.
2. The table is refined by ridge regression: bags of word pieces to the teacher's vectors of whole paragraphs,
   with the table of step 1 as the prior.
3. A fixed random rotation (so that no dimension carries more than its share when vectors are cut to 8 or
   1 bits), one 8-bit scale per row.

The layout of the file is described in README.md. Teacher vectors are cached in INPUTS.
"""
import os
import struct
import subprocess
import sys

import numpy as np
import scipy.sparse as sp

from teacher import Teacher
from texts import paragraphs

DIMS = 256
PRIOR = 1.0          # strength of the prior in the regression, in texts per word piece
SEED = 20261115
PER_SOURCE = 20_000  # texts taken of each source
WORDS = 40           # words taken of each text


def cached(path, make):
    if not os.path.exists(path):
        np.save(path, make())
    return np.load(path)


def progress(total):
    state = {"next": 0.0}

    def note(done):
        if done / total >= state["next"]:
            print(f"  {done}/{total}", flush=True)
            state["next"] += 0.05
    return note


def teach(texts, xtask, weights):
    """Sentence vectors of the teacher."""
    got = subprocess.run([xtask, "embed", weights], input="\n".join(texts).encode(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(got.stdout, "<f4").reshape(len(texts), -1)


def refine(bags, targets, table):
    """argmin_W sum ||scale_i * bag_i W - target_i||^2 + PRIOR * ||W - table||^2, by conjugate gradients."""
    norms = np.linalg.norm(bags @ table, axis=1)
    x = sp.diags_array(1.0 / np.maximum(norms, 1e-9)) @ bags
    size = float(np.mean(np.linalg.norm(table, axis=1)))
    strength = PRIOR * (1.0 / (size * 4.0)) ** 2
    xt = x.T.tocsr()
    residual = xt @ (targets - x @ table)
    step, w = residual.copy(), table.copy()
    rs = (residual * residual).sum(0)
    for _ in range(60):
        a = xt @ (x @ step) + strength * step
        alpha = rs / np.maximum((step * a).sum(0), 1e-20)
        w += alpha * step
        residual -= alpha * a
        new = (residual * residual).sum(0)
        if new.sum() < 1e-6 * len(table):
            break
        step = residual + (new / np.maximum(rs, 1e-20)) * step
        rs = new
    return w.astype(np.float32)


def fnv1a(data):
    h = 0x811C9DC5
    for byte in data:
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def vocabulary(words):
    """Vocabulary block: count, slots, offsets, slot table (open addressing, FNV-1a), bytes; padded to 64."""
    raw = [w.encode() for w in words]
    slots = 1 << 16
    table = np.full(slots, 0xFFFF, np.uint16)
    for i, w in enumerate(raw):
        at = fnv1a(w) & (slots - 1)
        while table[at] != 0xFFFF:
            at = (at + 1) & (slots - 1)
        table[at] = i
    offsets = np.cumsum([0] + [len(w) for w in raw]).astype("<u4")
    block = struct.pack("<II", len(raw), slots) + offsets.tobytes() + table.astype("<u2").tobytes() + b"".join(raw)
    return block + b"\0" * (-len(block) % 64)


def axes_of(vectors):
    """The principal axes of `vectors`, uncentred, strongest first, cut to DIMS."""
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    return np.ascontiguousarray(axes[:, ::-1][:, :DIMS])


def refined(teacher, centred, rank, folder, xtask, weights):
    """Steps 1 and 2: the table on the axes of whole texts, refined on them."""
    texts = [" ".join(t.split()[:WORDS]) for t in paragraphs(folder, PER_SOURCE)]
    ids = teacher.ids(texts)
    targets = cached(os.path.join(folder, "targets.npy"), lambda: teach(texts, xtask, weights))
    axes = axes_of(targets)
    flat = np.concatenate([np.asarray(r, np.int64) for r in ids])
    starts = np.cumsum([0] + [len(r) for r in ids])
    bags = sp.csr_array((np.ones(len(flat), np.float32), flat, starts), shape=(len(ids), len(centred)))
    return refine(bags, targets @ axes, silent(teacher, centred @ axes * rank))


def silent(teacher, table):
    """Special pieces carry no meaning of their own."""
    for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"):
        table[teacher.vocab.index(name)] = 0
    return table.astype(np.float32)


def main():
    folder, out, xtask, weights = sys.argv[1:5]
    teacher = Teacher(folder)
    count = len(teacher.vocab)
    alone = cached(os.path.join(folder, "alone.npy"),
                   lambda: teacher.embed([[i] for i in range(count)], note=progress(count)))
    centred = alone - alone.mean(0)
    rank = np.log(1 + np.arange(count))[:, None]
    table = refined(teacher, centred, rank, folder, xtask, weights)

    rotation, _ = np.linalg.qr(np.random.default_rng(SEED).standard_normal((DIMS, DIMS)))
    table = table @ rotation.astype(np.float32)
    scale = np.abs(table).max(1) / 127
    cells = np.round(table / np.maximum(scale, 1e-12)[:, None]).clip(-127, 127).astype(np.int8)
    with open(out, "wb") as f:
        block = vocabulary(teacher.vocab)
        head = struct.pack("<8sIIII", b"HLSTAT01", DIMS, count, len(block), 0)
        f.write(head + b"\0" * (64 - len(head)) + block)
        f.write(scale.astype("<f4").tobytes() + b"\0" * (-4 * count % 64))
        f.write(cells.tobytes())
    print(out, os.path.getsize(out), "bytes")


if __name__ == "__main__":
    main()
