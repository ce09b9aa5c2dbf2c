#!/usr/bin/env python3
"""The Agent Memory Security Benchmark against the heirloom binary.

Comes in: the path of the binary, and the Python package agent-memory-guard (`pip install agent-memory-guard==0.3.3`). Goes out: a line per
scenario, the benchmark's own grade, exit code 0 if every attack was stopped and every control came back byte for byte. Nothing in here knows
a scenario: who speaks decides.

    user_input      `heirloom remember` in a pseudo-terminal: a person
    anything else   the same command without a terminal: a process
    key             the fact's subject
    context reset   every call is a new process
    recall(key)     `heirloom recall --json`, judged on the stored text

    python3 bench/amsb.py target/debug/heirloom            as the benchmark is
    python3 bench/amsb.py target/debug/heirloom --owner    every write as the owner's own
"""

import argparse
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile

from agent_memory_guard.bench.adapter import MemorySystemAdapter, RememberOutcome
from agent_memory_guard.bench.harness import run_suite
from agent_memory_guard.bench.scenarios import default_corpus
from agent_memory_guard.bench.scoring import score_report

# The kernel takes no longer argument; longer texts come from a file.
LONGEST_ARGUMENT = 100_000
# What the gate's answers mean in the benchmark's words.
OUTCOMES = {
    0: RememberOutcome.STORED,
    "NEEDS_CONFIRMATION": RememberOutcome.QUARANTINED,
}


class Heirloom(MemorySystemAdapter):
    """A project, a home and a binary of its own for each scenario."""

    name = "heirloom"
    binary = ""
    everybody_is_the_owner = False
    # What was said to each write, in order, for the report.
    answers: list = []

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="heirloom-amsb-")
        self.project = os.path.join(self.base, "project")
        os.makedirs(self.project)
        # Nothing but this: an agent's variable would make a person at a terminal a process.
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": self.base,
            "XDG_CONFIG_HOME": os.path.join(self.base, "config"),
            "XDG_DATA_HOME": os.path.join(self.base, "data"),
            "USER": "owner",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
        }
        self.run(["init"])

    def __del__(self):
        shutil.rmtree(self.base, ignore_errors=True)

    def run(self, arguments):
        """A process without a terminal."""
        done = subprocess.run(
            [self.binary, *arguments], cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def run_at_terminal(self, arguments):
        """A process whose standard input and error are a terminal, with somebody who answers every question with no."""
        keyboard, terminal = pty.openpty()
        child = subprocess.Popen(
            [self.binary, *arguments], cwd=self.project, env=self.environment, stdin=terminal,
            stdout=subprocess.PIPE, stderr=terminal,
        )
        os.close(terminal)
        os.write(keyboard, b"n\n")
        out = child.stdout.read().decode()
        said = b""
        try:
            while chunk := os.read(keyboard, 65536):
                said += chunk
        except OSError:
            pass  # The terminal ends with its last user.
        os.close(keyboard)
        return child.wait(), out, said.decode(errors="replace")

    def remember(self, key, value, *, source_class="external_tool"):
        arguments = ["remember", "--json", "--subject", key]
        if len(value.encode()) > LONGEST_ARGUMENT:
            path = os.path.join(self.base, "value")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(value)
            arguments += ["--from", path]
        else:
            arguments += ["--", value]
        owner = self.everybody_is_the_owner or source_class == "user_input"
        code, out, said = (self.run_at_terminal if owner else self.run)(arguments)
        error = json.loads(out).get("error", {}) if out.startswith("{") else {}
        Heirloom.answers.append((key, error.get("code") or ("stored" if code == 0 else said.strip()), error.get("message", "")))
        return OUTCOMES.get(code if code == 0 else error.get("code"), RememberOutcome.BLOCKED)

    def recall(self, key):
        code, out, said = self.run(["recall", "--json", key])
        if code != 0:
            raise RuntimeError(said)
        bodies = [hit["body"] for hit in json.loads(out)["hits"]]
        return "\n".join(bodies) if bodies else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--owner", action="store_true", help="every write comes from a person at a terminal")
    given = parser.parse_args()
    Heirloom.binary = os.path.abspath(given.binary)
    Heirloom.everybody_is_the_owner = given.owner
    Heirloom.version = subprocess.run([Heirloom.binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    corpus = default_corpus()
    report = run_suite(Heirloom, corpus)
    answers = iter(Heirloom.answers)
    for scenario, run in zip(corpus, report.runs):
        last = [next(answers) for _ in scenario.steps][-1]
        word = ("stopped" if run.passed else "GOT THROUGH") if run.malicious else ("kept" if run.passed else "LOST")
        print(f"{word:12} {run.scenario_id:28} {last[1]:20} {last[2]}")
    card = score_report(report)
    attacks = [run for run in report.runs if run.malicious]
    controls = [run for run in report.runs if not run.malicious]
    stopped, kept = sum(run.passed for run in attacks), sum(run.passed for run in controls)
    print(f"attacks stopped {stopped}/{len(attacks)}, controls kept {kept}/{len(controls)}, "
          f"grade {card.grade.value}, score {card.score:.1f}")
    return 0 if stopped == len(attacks) and kept == len(controls) else 1


if __name__ == "__main__":
    sys.exit(main())
