"""A server of its own for the tests: the program in HEIRLOOM_BINARY, with a home and a project that nobody else has."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from heirloom_memory import AsyncHeirloom, Heirloom

FOREIGN = ("HEIRLOOM_TOKEN", "HEIRLOOM_DATABASE_URL", "CLAUDECODE", "HTTP_PROXY", "http_proxy", "ALL_PROXY")


@dataclass
class Place:
    """A running server and the home it belongs to."""

    binary: str
    home: Path
    project: Path
    url: str
    token_file: Path
    server: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def user_token(self, name: str, scopes: str) -> str:
        """A token of another user. Only a person makes one, so it is made at a terminal."""
        line = f"{self.binary} user add {name} && {self.binary} user token {name} --scope {scopes} --json"
        made = subprocess.run(
            ["script", "-qec", line, "/dev/null"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        return str(json.loads(made[made.index("{") : made.rindex("}") + 1])["token"])


@contextlib.contextmanager
def started(home: Path) -> Iterator[Place]:
    """A server of a home, with a project in it."""
    binary = os.environ["HEIRLOOM_BINARY"]
    project = home / "project"
    project.mkdir()
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    env |= {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}
    init = [binary, "init", "--project", str(project)]
    subprocess.run(init, check=True, capture_output=True, stdin=subprocess.DEVNULL, cwd=home, env=env)
    words = [binary, "serve", "--listen", "127.0.0.1:0", "--rate", "100000", str(project)]
    server = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=home, env=env
    )
    assert server.stdout is not None
    url = server.stdout.readline().removeprefix("listening on ").strip()
    token_file = Path(server.stdout.readline().removeprefix("token file ").strip())
    try:
        yield Place(binary, home, project, url, token_file, server)
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("home")
    for name in FOREIGN:
        os.environ.pop(name, None)
    # The clients look where the server's home is, and so does what the tests start.
    os.environ.update(HOME=str(home), XDG_DATA_HOME=str(home / "data"), XDG_CONFIG_HOME=str(home / "config"))
    with started(home) as server:
        yield server


@pytest.fixture
def memory(place: Place) -> Iterator[Heirloom]:
    with Heirloom(place.url) as client:
        yield client


@pytest.fixture
def amemory(place: Place) -> AsyncHeirloom:
    return AsyncHeirloom(place.url)
