"""Just enough HTTP/1.1 for a scripted server: whole requests in, answers out step by step, with keep-alive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import assert_never

from souvenance.testing.answer import Drop, Head, Hold, Pause, Send, Step

MAX_HEAD = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A request exactly as it came: headers in their order and case, the body byte for byte.

    `number` counts the server's requests from 1 in order of arrival; `connection` tells one kept-alive connection
    from another.
    """

    number: int
    connection: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of this name, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class RequestHead:
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


async def read_head(reader: asyncio.StreamReader) -> RequestHead | None:
    """The next request's head; None when the client has closed the connection."""
    try:
        block = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None
    first, *lines = block[:-4].decode("latin-1").split("\r\n")
    method, path, *_ = [*first.split(" "), ""]
    pairs = (line.partition(":") for line in lines)
    return RequestHead(method, path, tuple((name, value.strip()) for name, _, value in pairs))


async def read_body(head: RequestHead, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The whole body, by its length or in HTTP chunks. Raises IncompleteReadError when the client leaves."""
    if head.header("expect").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if head.header("transfer-encoding").lower() != "chunked":
        return await reader.readexactly(int(head.header("content-length") or 0))
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(parts)


class Answer:
    """Carries out the steps of one answer on one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, releases: asyncio.Semaphore) -> None:
        self._reader = reader
        self._writer = writer
        self._releases = releases
        self._chunked = False

    async def give(self, steps: Iterable[Step]) -> bool:
        """Whether the connection can be used again. Raises ConnectionError when the client has left."""
        for step in steps:
            match step:
                case Head():
                    self._head(step)
                case Send():
                    await self._send(step.data)
                case Pause():
                    await asyncio.sleep(step.seconds)
                case Hold():
                    await self._hold()
                case Drop():
                    self._writer.transport.abort()
                    return False
                case _:
                    assert_never(step)
        if self._chunked:
            self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    def _head(self, head: Head) -> None:
        self._chunked = head.length is None
        framing = "transfer-encoding: chunked" if head.length is None else f"content-length: {head.length}"
        reason = HTTPStatus(head.status).phrase if head.status in HTTPStatus._value2member_map_ else ""
        lines = [f"HTTP/1.1 {head.status} {reason}", f"content-type: {head.content_type}", framing]
        lines.extend(f"{name}: {value}" for name, value in head.headers)
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def _send(self, data: bytes) -> None:
        if self._chunked and data:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        self._writer.write(data)
        if self._writer.is_closing():
            raise ConnectionResetError("the client has left")
        await self._writer.drain()

    async def _hold(self) -> None:
        await self._writer.drain()
        gone = asyncio.ensure_future(self._reader.read(1))
        free = asyncio.ensure_future(self._releases.acquire())
        try:
            await asyncio.wait({gone, free}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left = gone.done()
            gone.cancel()
            free.cancel()
            await asyncio.gather(gone, free, return_exceptions=True)
        if left:
            raise ConnectionResetError("the client has left")
