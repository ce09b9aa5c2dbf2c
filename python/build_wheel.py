"""Makes the wheel from a program that is already built: BINARY VERSION OUT.

maturin, which `pyproject.toml` names for builds from source, always compiles anew. The wheel that is published carries exactly the static program of
`cargo xtask install`, and the one of a test a program that is there. The metadata is that of `pyproject.toml`; the same input gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PACKAGE = "heirloom_memory"
LICENCES = sorted(HERE.parent.glob("LICENSE*"))


def tag_of(binary: bytes) -> str:
    """Where the program runs: a static one on every Linux, another one where it was built."""
    machine = platform.machine()
    if binary[:4] != b"\x7fELF":
        raise SystemExit("the program is not one for Linux; build wheels for other systems with maturin")
    if b"/ld-linux" in binary[:4096] or b"/ld-musl" in binary[:4096]:
        return f"py3-none-linux_{machine}"
    return f"py3-none-manylinux_2_17_{machine}.musllinux_1_1_{machine}"


def metadata(project: dict[str, Any], version: str) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}"]
    lines.append(f"Summary: {project['description']}")
    lines.append(f"License-Expression: {project['license']}")
    lines += [f"License-File: {licence.name}" for licence in LICENCES]
    lines.append(f"Requires-Python: {project['requires-python']}")
    lines.append(f"Keywords: {','.join(project['keywords'])}")
    lines += [f"Classifier: {one}" for one in project["classifiers"]]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {one} ; extra == '{extra}'" for one in needs]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (HERE / project["readme"]).read_text()


def main(binary: Path, version: str, out: Path) -> Path:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    program = binary.read_bytes()
    name = f"{PACKAGE}-{version}"
    tag = tag_of(program)
    python, abi, platforms = tag.split("-", 2)
    files: list[tuple[str, bytes, int]] = [
        (path.relative_to(HERE).as_posix(), path.read_bytes(), 0o644)
        for path in sorted((HERE / PACKAGE).iterdir())
        if path.suffix == ".py" or path.name == "py.typed"
    ]
    files.append((f"{name}.data/scripts/heirloom", program, 0o755))
    for licence in LICENCES:
        files.append((f"{name}.dist-info/licenses/{licence.name}", licence.read_bytes(), 0o644))
    files.append((f"{name}.dist-info/METADATA", metadata(project, version).encode(), 0o644))
    wheel = ["Wheel-Version: 1.0", "Generator: heirloom", "Root-Is-Purelib: false"]
    wheel += [f"Tag: {python}-{abi}-{one}" for one in platforms.split(".")]
    files.append((f"{name}.dist-info/WHEEL", ("\n".join(wheel) + "\n").encode(), 0o644))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{tag}.whl"
    record = f"{name}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner, data, mode in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{inner},sha256={digest},{len(data)}")
            put(archive, inner, data, mode)
        put(archive, record, ("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644)
    return path


def put(archive: zipfile.ZipFile, inner: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
