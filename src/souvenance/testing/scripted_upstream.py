"""A real HTTP server that speaks the OpenAI form, says what it is told to, and keeps every request byte for byte."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from souvenance.testing.answer import CREATED, Step, asked, steps
from souvenance.testing.http_exchange import MAX_HEAD, Answer, RecordedRequest, RequestHead, read_body, read_head
from souvenance.testing.script import Fault, Raw, Reply, Text

Responder = Callable[[RecordedRequest], Reply]
CHAT = "/v1/chat/completions"


def echo(request: RecordedRequest) -> Reply:
    """The default reply: the newest user message's text, word by word, after "You said:"."""
    words = ("You said: " + _newest_user_text(request.body)).split(" ")
    return Text(chunks=(words[0], *(" " + word for word in words[1:])))


class ScriptedUpstream:
    """An OpenAI-compatible server on loopback, in a thread of its own; a context manager.

    Replies come from `script(...)` in order, then from `respond_with(...)`, then from `echo`. Every method may be
    called from any thread.
    """

    def __init__(
        self,
        *,
        models: tuple[str, ...] = ("scripted",),
        host: str = "127.0.0.1",
        port: int = 0,
        owned_by: str = "tests",
    ) -> None:
        self._host = host
        self._wanted_port = port
        self._changed = threading.Condition()
        self._replies: deque[Reply] = deque()
        self._responder: Responder = echo
        self._pages: dict[tuple[str, str], Reply] = {("GET", "/v1/models"): _model_list(models, owned_by)}
        self._recorded: list[RecordedRequest] = []
        self._disconnects = 0
        self._connections = itertools.count(1)
        self._thread: threading.Thread | None = None
        self._ready: threading.Event = threading.Event()
        self._failure: OSError | None = None
        self.port = 0

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> Self:
        """Listen; `port` and `url` hold from here on. Raises OSError when the port is taken."""
        self._thread = threading.Thread(target=self._run, name="scripted-upstream", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def stop(self) -> None:
        """Close the port and every connection; harmless when it is not running."""
        if self._thread is None or self._failure is not None:
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._thread = None

    @property
    def origin(self) -> str:
        return f"http://{self._host}:{self.port}"

    @property
    def url(self) -> str:
        """The base URL that an OpenAI client is given."""
        return self.origin + "/v1"

    @property
    def everything(self) -> tuple[RecordedRequest, ...]:
        """All requests in order of arrival."""
        with self._changed:
            return tuple(self._recorded)

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """The chat requests in order of arrival."""
        return tuple(request for request in self.everything if request.path == CHAT)

    @property
    def disconnects(self) -> int:
        """How many clients left in the middle of an answer."""
        with self._changed:
            return self._disconnects

    def script(self, *replies: Reply) -> Self:
        """Queue replies; each answers one chat request."""
        with self._changed:
            self._replies.extend(replies)
        return self

    def respond_with(self, responder: Responder) -> Self:
        """What answers when the queue is empty; it runs in the server's thread and must not block."""
        with self._changed:
            self._responder = responder
        return self

    def page(self, method: str, path: str, reply: Reply | dict[str, Any]) -> Self:
        """What another path answers, for instance the native endpoints of a local server; a dict goes out as JSON."""
        shown = reply if not isinstance(reply, dict) else _json_page(reply)
        with self._changed:
            self._pages[method, path] = shown
        return self

    def release(self, count: int = 1) -> None:
        """Let `count` hanging replies end, those to come included."""
        for _ in range(count):
            self._loop.call_soon_threadsafe(self._releases.release)

    def wait_for_requests(self, count: int = 1, timeout: float = 10.0) -> tuple[RecordedRequest, ...]:
        """The chat requests, once there are `count`. Raises TimeoutError."""
        self._wait(lambda: sum(request.path == CHAT for request in self._recorded) >= count, timeout, "requests")
        return self.requests

    def wait_for_disconnects(self, count: int = 1, timeout: float = 10.0) -> int:
        """How many clients have left, once there are `count`. Raises TimeoutError."""
        self._wait(lambda: self._disconnects >= count, timeout, "disconnects")
        return self.disconnects

    async def arrived(self, count: int = 1) -> tuple[RecordedRequest, ...]:
        """`wait_for_requests` for a coroutine."""
        return await asyncio.to_thread(self.wait_for_requests, count)

    async def left(self, count: int = 1) -> int:
        """`wait_for_disconnects` for a coroutine."""
        return await asyncio.to_thread(self.wait_for_disconnects, count)

    def _wait(self, met: Callable[[], bool], timeout: float, what: str) -> None:
        with self._changed:
            if not self._changed.wait_for(met, timeout):
                raise TimeoutError(f"after {timeout:g} s the scripted upstream had not seen enough {what}")

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._releases = asyncio.Semaphore(0)
        self._open: set[asyncio.Task[None]] = set()
        try:
            server = await asyncio.start_server(self._connected, self._host, self._wanted_port, limit=MAX_HEAD)
        except OSError as error:
            self._failure = error
            self._ready.set()
            return
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._converse(reader, writer, next(self._connections)))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
                await self._exchange(reader, writer, connection)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        answer = Answer(reader, writer, self._releases)
        while (head := await read_head(reader)) is not None:
            request = self._record(head, await read_body(head, reader, writer), connection)
            try:
                if not await answer.give(self._steps(request)):
                    return
            except ConnectionError:
                self._note_disconnect()
                return

    def _record(self, head: RequestHead, body: bytes, connection: int) -> RecordedRequest:
        with self._changed:
            request = RecordedRequest(
                number=len(self._recorded) + 1,
                connection=connection,
                method=head.method,
                path=head.path,
                headers=head.headers,
                body=body,
            )
            self._recorded.append(request)
            self._changed.notify_all()
        return request

    def _steps(self, request: RecordedRequest) -> Iterator[Step]:
        with self._changed:
            if (request.method, request.path) == ("POST", CHAT):
                reply = self._replies.popleft() if self._replies else None
            else:
                reply = self._pages.get((request.method, request.path.partition("?")[0]), _NOT_HERE)
            responder = self._responder
        if reply is None:
            reply = responder(request)
        return steps(reply, asked(request.body, request.number))

    def _note_disconnect(self) -> None:
        with self._changed:
            self._disconnects += 1
            self._changed.notify_all()


_NOT_HERE = Fault(status=404, body=b'{"error":{"message":"no such page","type":"not_found"}}')


def _model_list(models: tuple[str, ...], owned_by: str) -> Reply:
    listed = [{"id": name, "object": "model", "created": CREATED, "owned_by": owned_by} for name in models]
    return _json_page({"object": "list", "data": listed})


def _json_page(value: dict[str, Any]) -> Reply:
    return Raw(pieces=(json.dumps(value).encode(),), content_type="application/json")


def _newest_user_text(body: bytes) -> str:
    try:
        messages = json.loads(body).get("messages", [])
        content = next(message["content"] for message in reversed(messages) if message.get("role") == "user")
    except (ValueError, AttributeError, KeyError, TypeError, StopIteration):
        return ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
