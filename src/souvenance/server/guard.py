"""What is asked of every request before any route sees it: a known host, no foreign page, JSON, a bounded body (I8).

Local use has no login, so a web page must not reach the server through the browser of its owner: neither by a name
that it makes resolve to this machine (the Host header is checked), nor by sending requests across origins (whatever
changes something must come from this server's own pages, and a body must be JSON, which a foreign form cannot send).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.server.problems import Trouble, own, written

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# A client that is still sending cannot read an answer: this much is read to its end and thrown away.
_DRAINED_BYTES = 64_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Names by which this server may be called, beside localhost and bare addresses, and foreign origins let in.

    `hosts` without port (`memory.home.arpa`), `origins` as browsers send them (`https://chat.example`).
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()


class Guard:
    """ASGI middleware; reads the body whole, at most `most` bytes, and hands it on as one message."""

    def __init__(self, app: ASGIApp, *, access: Access, most: int) -> None:
        self._app = app
        self._access = access
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        trouble = foreign(scope["method"], Headers(scope=scope), self._access)
        if trouble is None:
            body = await _read(receive, self._most)
            if body is None:
                return
            trouble = _unfit(body, Headers(scope=scope), self._most)
            if trouble is None:
                await self._app(scope, _replayed(body.data, receive), send)
                return
        await written(scope["path"], trouble)(scope, receive, send)


def foreign(method: str, headers: Headers, access: Access) -> Trouble | None:
    """Why this request is not from a page or program that may ask; None when it may."""
    host = headers.get("host", "")
    if not _known_host(host, access):
        return own(
            "host_not_allowed",
            f"This server does not answer to the host {host!r}; call it by its address, or allow the name.",
            details={"field": "Host"},
        )
    if method in _SAFE_METHODS or _same_origin(host, headers, access):
        return None
    return own(
        "origin_not_allowed",
        f"Pages of {headers.get('origin', 'another site')} may not change anything here.",
        details={"field": "Origin"},
    )


def _known_host(host: str, access: Access) -> bool:
    name = _without_port(host).lower()
    return name == "localhost" or name in access.hosts or _is_address(name)


def _is_address(name: str) -> bool:
    """A bare IP address: no name was resolved, so none can have been turned on this machine."""
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (not name.count(":") or name.endswith("]")) else host


def _same_origin(host: str, headers: Headers, access: Access) -> bool:
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    return origin in access.origins or origin.partition("://")[2].lower() == host.lower()


@dataclass(frozen=True, slots=True)
class _Body:
    data: bytes
    size: int


async def _read(receive: Receive, most: int) -> _Body | None:
    """The body, or only its size when it is too long; None when the client left."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size <= most:
            pieces.append(piece)
        if not message.get("more_body", False) or size > _DRAINED_BYTES:
            return _Body(b"".join(pieces) if size <= most else b"", size)


def _unfit(body: _Body, headers: Headers, most: int) -> Trouble | None:
    if body.size > most:
        return own(
            "body_too_large",
            f"The body has {body.size} bytes; the limit is {most}. Nothing was stored.",
            details={"field": "body", "size": body.size, "limit": most, "unit": "bytes"},
        )
    kind = headers.get("content-type", "")
    if not body.size or _is_json(kind):
        return None
    return own(
        "wrong_content_type",
        f"The body is said to be {kind or 'of no type'!r}; expected application/json in UTF-8.",
        details={"field": "Content-Type", "expected": "application/json"},
    )


def _is_json(kind: str) -> bool:
    media, _, parameters = kind.lower().partition(";")
    media = media.strip()
    named = media == "application/json" or (media.startswith("application/") and media.endswith("+json"))
    charset = parameters.partition("charset=")[2].strip(' "') or "utf-8"
    return named and charset in ("utf-8", "utf8")


def _replayed(data: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": data, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
