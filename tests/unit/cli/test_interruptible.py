from __future__ import annotations

import asyncio
import signal
import sys
import threading
from types import FrameType

import pytest

from souvenance.cli.interruptible import interruptible


def test_an_interrupt_that_does_not_wake_the_loop_by_itself_ends_its_work_at_once() -> None:
    """A signal that another thread takes leaves the main one asleep, as does one that comes as it falls asleep."""

    async def wait() -> None:
        interrupt.start()
        await asyncio.Event().wait()

    def interrupt_once_asleep() -> None:
        while not _is_asleep(sys._current_frames()[threading.main_thread().ident or 0]):
            continue
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    interrupt = threading.Thread(target=interrupt_once_asleep)
    with interruptible() as runner, pytest.raises(KeyboardInterrupt):
        runner.run(wait())


def _is_asleep(frame: FrameType) -> bool:
    return frame.f_code.co_name == "select" and frame.f_code.co_filename.endswith("selectors.py")


def test_signals_wake_afterwards_what_they_woke_before() -> None:
    before = signal.set_wakeup_fd(-1)
    try:
        with interruptible():
            pass
        assert signal.set_wakeup_fd(-1) == -1
    finally:
        signal.set_wakeup_fd(before)
