"""Where the server is, the token for it, and whether the server is this account's own.

On a shared machine any account can listen on a port. Before a token leaves for a loopback address, the server must prove that it
reads this account's `server/key`: HMAC-SHA-256 over the host and a fresh nonce. Nothing here sends anything; the clients do.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .errors import ImpostorError, UnauthenticatedError

DEFAULT_URL = "http://127.0.0.1:7411"

_KEY_BYTES = 32


@dataclass(frozen=True)
class Access:
    """An address, a token, and the key to check the server with, if there is one."""

    url: str
    host: str
    token: str
    key: bytes | None
    local: bool


def data_folder() -> Path:
    """The folder in which Heirloom keeps what is this account's own."""
    named = os.environ.get("XDG_DATA_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".local" / "share"
    return base / "heirloom"


def access(url: str, token: str | None, *, prove: bool) -> Access:
    """Finds the token (argument, `HEIRLOOM_TOKEN`, the server's token file) and the key."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"`{url}` is not the address of a server; write http://127.0.0.1:7411")
    default = 443 if parts.scheme == "https" else 80
    port = parts.port or default
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    host = name if port == default else f"{name}:{port}"
    local = _is_local(parts.hostname)
    folder = data_folder() / "server"
    found = token or os.environ.get("HEIRLOOM_TOKEN") or None
    if found is None and local:
        found = _private(folder / f"{port}.token")
    if found is None:
        raise UnauthenticatedError(
            f"there is no token for {url}",
            code="UNAUTHENTICATED",
            hint="start `heirloom serve`, pass token=, or set HEIRLOOM_TOKEN",
        )
    key = _key(folder / "key") if local and prove else None
    return Access(url.rstrip("/"), host, found.strip(), key, local)


def nonce() -> str:
    return secrets.token_hex(16)


def check(access: Access, sent: str, answer: object) -> None:
    """Holds the server's proof against the key."""
    assert access.key is not None
    message = f"heirloom server\0{access.host.lower()}\0{sent}".encode()
    expected = hmac.new(access.key, message, hashlib.sha256).hexdigest()
    given = answer.get("proof") if isinstance(answer, dict) else None
    if not isinstance(given, str) or not hmac.compare_digest(expected.encode(), given.encode()):
        raise ImpostorError(
            f"the server at {access.url} is not run by this account; no token was sent",
            code="SECURITY_ERROR",
            hint="stop whatever listens there and start `heirloom serve`; for a server in a container or behind a tunnel, pass prove=False",
        )


def _is_local(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _private(path: Path) -> str | None:
    """The text of a file that only this account can read; an exception if others can."""
    bytes_ = _private_bytes(path)
    return None if bytes_ is None else bytes_.decode("ascii", "replace").strip() or None


def _key(path: Path) -> bytes | None:
    key = _private_bytes(path)
    return key if key is not None and len(key) == _KEY_BYTES else None


def _private_bytes(path: Path) -> bytes | None:
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(file, "rb") as opened:
        found = os.fstat(file)
        private = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
        if not private:
            raise PermissionError(f"`{path}` can be read by others or is not yours; run `chmod 600 {path}`")
        return opened.read(4096)
