"""The guide's blocks of Python, run in their order; HEIRLOOM_WRITE_GUIDE=1 writes their output into the page."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from heirloom_memory import _access

from .conftest import Place, started

PAGE = Path(__file__).parents[2] / "docs/guides/build-an-agent.md"
BLOCK = re.compile(r"(```python\n)(.*?)(```\n```text\n)(.*?)(```\n)", re.DOTALL)


@pytest.fixture
def fresh(place: Place, tmp_path: Path) -> Iterator[Place]:
    """A server of its own: the guide begins with an empty memory."""
    with started(tmp_path) as server:
        yield server


def test_the_guides_python_prints_what_the_guide_shows(fresh: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("langgraph.store.base", "agents", "anthropic"):
        pytest.importorskip(package, reason=f"the registry has no {package}")
    monkeypatch.setenv("XDG_DATA_HOME", str(fresh.home / "data"))
    monkeypatch.setattr(_access, "DEFAULT_URL", fresh.url)
    names: dict[str, object] = {}

    def ran(found: re.Match[str]) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(found[2], str(PAGE), "exec"), names)
        return found[1] + found[2] + found[3] + said.getvalue() + found[5]

    page = PAGE.read_text()
    assert len(BLOCK.findall(page)) == 6
    replayed = BLOCK.sub(ran, page)
    if os.environ.get("HEIRLOOM_WRITE_GUIDE"):
        PAGE.write_text(replayed)
    assert replayed == page, "the guide is stale; HEIRLOOM_WRITE_GUIDE=1 writes it"
