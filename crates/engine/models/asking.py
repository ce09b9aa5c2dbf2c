"""What all questions have in common, as MiniLM sees them: the mean vector of the questions of `fixtures/first-day/tune.txt`.

In: the xtask program, the weight file. Out: `asking-minilm.bin` beside this script, one little-endian float for each dimension.
"""
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
DIMENSIONS = 384

xtask, weights = sys.argv[1:]
lines = (HERE / "../../../fixtures/first-day/tune.txt").read_text().splitlines()
questions = [line.split(": ", 1)[1] for line in lines if line.split(":")[0].split(" ")[0] in ("shares", "means", "none")]
said = ("\n".join(questions) + "\n").encode()
raw = subprocess.run([xtask, "embed", weights], input=said, capture_output=True, check=True)
rows = struct.iter_unpack(f"<{DIMENSIONS}f", raw.stdout)
mean = [sum(column) / len(questions) for column in zip(*rows)]
(HERE / "asking-minilm.bin").write_bytes(struct.pack(f"<{DIMENSIONS}f", *mean))
