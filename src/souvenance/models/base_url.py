"""The address of an upstream: what people write, and what is asked."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from souvenance.errors import SettingError

_PASTED = ("/chat/completions", "/models")


def normalise(written: str) -> str:
    """The base URL that `/chat/completions` is put after, without a slash at the end.

    A bare host gets `/v1`; any other path is taken as it stands, since providers differ (`/api/v1`, `/v1beta/openai`,
    `/inference`). A whole endpoint pasted in is cut back. Raises SettingError when it is no http address.
    """
    parts = _split(written.strip())
    path = parts.path.rstrip("/")
    for tail in _PASTED:
        path = path.removesuffix(tail)
    return parts._replace(path=path or "/v1", query="", fragment="").geturl()


def origin(base: str) -> str:
    """Scheme, host and port alone, where a local server's native endpoints live."""
    return _split(base)._replace(path="", query="", fragment="").geturl()


def is_loopback(base: str) -> bool:
    """Whether the address is this machine: such a call goes through no proxy."""
    host = _split(base).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _split(written: str) -> SplitResult:
    mend = "Write it like http://127.0.0.1:11434/v1."
    try:
        parts = urlsplit(written)
        # Reading the port raises on one that is no number.
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError as error:
        raise SettingError("base_url", problem=f"{written[:80]!r} is not an address ({error})", mend=mend) from error
    if not usable:
        raise SettingError("base_url", problem=f"{written[:80]!r} is not an http address", mend=mend)
    return parts
