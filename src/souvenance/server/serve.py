"""Serve an opened house over HTTP until asked to stop; a reply that is being written is stored before the end (T6)."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import uvicorn

from souvenance.errors import PortBusy, SettingError
from souvenance.server.application import LOCAL, Application, create_app
from souvenance.server.caller import House, Report
from souvenance.server.guard import Access
from souvenance.server.pace import USUAL, Pace

HOST = "127.0.0.1"
PORT = 7411
# How long running replies may go on once the server is asked to stop; then they are cut off, and stored as such.
GRACE_SECONDS = 10
# Doors that nobody has knocked at yet are opened after this: whoever asks at the very start is answered first.
WARM_AFTER = 1.0


async def serve(
    house: House,
    *,
    host: str = HOST,
    port: int = PORT,
    allow_public_without_login: bool = False,
    access: Access = LOCAL,
    pace: Pace = USUAL,
    report: Report | None = None,
    time_zone: str = "UTC",
    announce: Callable[[str], None] | None = None,
    warm_up: Callable[[], Awaitable[None]] | None = None,
    stop: asyncio.Event | None = None,
    grace_seconds: int = GRACE_SECONDS,
) -> None:
    """Answer on `host`:`port` (0: any free one) until SIGINT, SIGTERM or `stop`; `house` stays open.

    `announce` is told the address once it answers; `warm_up` loads what later requests would wait for.
    Raises PortBusy, or SettingError for an address that cannot be used or that other machines reach, unless
    `allow_public_without_login`.
    """
    _refuse_public(host, allowed=allow_public_without_login)
    listening = _listen(host, port)
    app = create_app(house, report=report, access=access, pace=pace, time_zone=time_zone)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=grace_seconds,
    )
    server = _Server(config, app, announce or _silent)
    watching = asyncio.create_task(_stop_when(stop, server))
    warming = asyncio.create_task(_warm(app, warm_up))
    try:
        await server.serve(sockets=[listening])
    finally:
        watching.cancel()
        warming.cancel()
        listening.close()


class _Server(uvicorn.Server):
    """Uvicorn that tells its streams to end, waits for replies that are being put in order, and returns on a signal."""

    def __init__(self, config: uvicorn.Config, app: Application, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._app = app
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._announce(address_of(sockets[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.stopping.set()
        running = set(self.server_state.tasks)
        await super().shutdown(sockets)
        left = {task for task in running | self.server_state.tasks if not task.done()}
        if left:
            await asyncio.wait(left, timeout=self.config.timeout_graceful_shutdown)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but the signal ends here: whoever opened the house must still close it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _refuse_public(host: str, *, allowed: bool) -> None:
    if allowed or _is_loopback(host):
        return
    raise SettingError(
        "host",
        problem=f"{host} can be reached from other machines, and local use has no login",
        mend=f"Use {HOST}, or say --allow-public-without-login if everyone who reaches it may read and change memories",
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, taken before anything else starts."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _unusable(host, port, error) from error
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise _unusable(host, port, error) from error
    return listening


def _unusable(host: str, port: int, error: OSError) -> SettingError:
    if error.errno == errno.EADDRINUSE:
        return PortBusy(host, port)
    reason = error.strerror or str(error)
    return SettingError(
        "host and port",
        problem=f"cannot listen on {host}:{port} ({reason})",
        mend="Choose others with --host and --port",
    )


async def _warm(app: Application, warm_up: Callable[[], Awaitable[None]] | None) -> None:
    await asyncio.sleep(WARM_AFTER)
    await app.doors.warm()
    if warm_up is not None:
        await warm_up()


async def _stop_when(stop: asyncio.Event | None, server: uvicorn.Server) -> None:
    if stop is not None:
        await stop.wait()
        server.should_exit = True


def _silent(address: str) -> None:
    """Tell nobody."""
