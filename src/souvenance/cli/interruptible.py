"""Work that an interrupt reaches at once, even while it waits for a model that says nothing."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ENOUGH = 4_096


@contextmanager
def interruptible() -> Iterator[asyncio.Runner]:
    """A runner for the main thread whose loop wakes at every signal.

    A signal that comes as the loop is just falling asleep is noted, but asyncio's own runner acts on it only when the
    loop next wakes for something else: until then Ctrl-C does nothing.
    """
    with asyncio.Runner() as runner, _woken_by_signals(runner.get_loop()):
        yield runner


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    # On Windows asyncio's loop does the same by itself; in another thread Python allows no signals.
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    hears, wakes = socket.socketpair()
    with hears, wakes:
        hears.setblocking(False)
        wakes.setblocking(False)
        loop.add_reader(hears, hears.recv, _ENOUGH)
        before = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(hears)
