"""Ask a model server on this machine, without what a client needs only on the open net: that costs more than the way.

Plain HTTP/1.1 by `h11` over the event loop's own streams: a request goes out in one piece, and what comes is handed on
as it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import h11
import httpx2

READ_BYTES = 64 * 1024
MOST_IDLE = 32


class Loopback(httpx2.AsyncBaseTransport):
    """A transport for `http` addresses of this machine. Connections are kept and used again, the newest first.

    Raises httpx2's own errors.
    """

    def __init__(self) -> None:
        self._idle: list[_Connection] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = request.extensions.get("timeout", {})
        body = await request.aread()
        connection = self._kept() or await _opened(request.url, seconds.get("connect"))
        try:
            connection.ask(request, body)
            head = await connection.head(seconds.get("read"))
        except BaseException:
            connection.close()
            raise
        answer = _Answer(connection, self._let_go, seconds.get("read"))
        return httpx2.Response(head.status_code, headers=list(head.headers), stream=answer, request=request)

    async def aclose(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> _Connection | None:
        """One that the server has not closed meanwhile."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
            connection.close()
        return None

    def _let_go(self, connection: _Connection) -> None:
        if connection.begins_anew() and len(self._idle) < MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()


class _Answer(httpx2.AsyncByteStream):
    """The body of an answer. Closing it before its end closes the connection, which ends the call."""

    def __init__(self, connection: _Connection, let_go: Callable[[_Connection], None], seconds: float | None) -> None:
        self._connection: _Connection | None = connection
        self._let_go = let_go
        self._seconds = seconds

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        assert self._connection is not None, "an answer is read once"
        while isinstance(event := await self._connection.next(self._seconds), h11.Data):
            yield bytes(event.data)

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._let_go(connection)


class _Connection:
    """One connection, for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=READ_BYTES)

    @property
    def is_open(self) -> bool:
        return not self._reader.at_eof() and not self._writer.is_closing()

    def ask(self, request: httpx2.Request, body: bytes) -> None:
        try:
            asked = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
            pieces = [self._http.send(event) for event in (asked, h11.Data(data=body), h11.EndOfMessage())]
        except h11.LocalProtocolError as error:
            raise httpx2.LocalProtocolError(str(error)) from error
        self._writer.write(b"".join([piece for piece in pieces if piece]))

    async def head(self, seconds: float | None) -> h11.Response:
        while not isinstance(event := await self.next(seconds), h11.Response):
            continue
        return event

    async def next(self, seconds: float | None) -> h11.Event:
        """What comes next of the answer, within so many seconds."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                async with asyncio.timeout(seconds):
                    self._http.receive_data(await self._reader.read(READ_BYTES))
        except TimeoutError as error:
            raise httpx2.ReadTimeout("") from error
        except OSError as error:
            raise httpx2.ReadError(str(error)) from error
        except h11.RemoteProtocolError as error:
            raise httpx2.RemoteProtocolError(str(error)) from error
        assert isinstance(event, h11.Event), "nothing follows the end of an answer that was not asked for"
        return event

    def begins_anew(self) -> bool:
        """Whether the answer came whole, so that another request may follow it."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def close(self) -> None:
        self._writer.close()


async def _opened(url: httpx2.URL, seconds: float | None) -> _Connection:
    try:
        async with asyncio.timeout(seconds):
            return _Connection(*await asyncio.open_connection(url.host, url.port or 80))
    except TimeoutError as error:
        raise httpx2.ConnectTimeout("") from error
    except OSError as error:
        raise httpx2.ConnectError(str(error)) from error
