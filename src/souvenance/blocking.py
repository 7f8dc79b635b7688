"""The one synchronous door, for scripts and notebooks: the library on an event loop of its own, in a thread.

    with souvenance.blocking.open("my-memory") as memory:
        for piece in memory.chat("Hello", bot="Ada"):
            print(piece.text, end="")

It works where a loop is already running, as in a notebook, and may be shared by threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, suppress
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from souvenance.app.browse import MemoryView, Page
from souvenance.app.prepare_turn import Prepared, Recorded
from souvenance.app.query_memories import Hits
from souvenance.app.remember import Remembered
from souvenance.domain.bot import Bot, Preset
from souvenance.domain.conversation import Conversation, Message
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import ConversationId, ErasureId, MemoryId
from souvenance.domain.journal import Operation
from souvenance.domain.limits import Level
from souvenance.domain.memory import Memory
from souvenance.errors import StoreUnavailable
from souvenance.library import Piece, Reply, Souvenance, open_memory
from souvenance.ports.memories import Order, Shelf

if TYPE_CHECKING:
    from souvenance.ports.chat_model import ChatModel

T = TypeVar("T")


def open(  # noqa: A001 - `blocking.open` mirrors `souvenance.open`
    folder: str | PathLike[str] | None = None,
    *,
    database_url: str | None = None,
    model: ChatModel | str | None = None,
    **settings: object,
) -> BlockingSouvenance:
    """The memory in a folder or database, opened; the arguments and errors are those of `souvenance.open`.

    Use it in a `with` block, or `close` it.
    """
    return BlockingSouvenance(lambda: open_memory(folder, database_url=database_url, model=model, **settings))


class _LoopThread:
    """An event loop in a thread that lives as long as one opened memory."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[Souvenance]]) -> None:
        self._opening = opening
        self._opened: Future[Souvenance] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        # Re-entrant: the collector may end an iterator of ours while this very thread holds it.
        self._gate = threading.RLock()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="souvenance-loop", daemon=True)
        self._thread.start()

    def opened(self) -> Souvenance:
        """What was opened; raises what opening it raised."""
        return self._opened.result()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work` on the loop; an interrupt of the caller cancels it there."""
        called = None if threading.current_thread() is self._thread else self._submitted(work)
        if called is None:
            raise StoreUnavailable("it is closed, or called from its own thread")
        try:
            return called.result()
        except CancelledError as error:
            raise StoreUnavailable("it was closed meanwhile") from error
        except BaseException:
            called.cancel()
            raise

    def finish(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do it on the loop and wait; on the loop's own thread (a collected iterator) without waiting."""
        if threading.current_thread() is self._thread and self._loop is not None:
            asyncio.run_coroutine_threadsafe(work(), self._loop)
        elif done := self._submitted(work):
            with suppress(CancelledError):  # Closing ends everything anyway.
                done.result()

    def close(self) -> None:
        """Close what was opened and end the thread; again is harmless."""
        with self._gate:
            if self._loop is not None and self._stop is not None and not self._closing:
                self._loop.call_soon_threadsafe(self._stop.set)
            self._closing = True
        self._thread.join()

    def _submitted(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T] | None:
        """Handed to the loop before it is told to stop, or not at all."""
        with self._gate:
            if self._loop is None or self._closing:
                return None
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with self._opening() as memory:
                self._opened.set_result(memory)
                await self._stop.wait()
        except Exception as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)


class BlockingSouvenance:
    """`Souvenance` with methods that wait; each does and raises what its namesake there does."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[Souvenance]]) -> None:
        self._thread = _LoopThread(opening)
        self._memory = self._thread.opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End running replies, close the store; again is harmless."""
        self._thread.close()

    # --- chat ---

    def chat(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        model: str | None = None,
        request_key: str = "",
    ) -> Iterator[Piece]:
        """The reply piece by piece; closing the iterator stops it and keeps it as cut off."""
        return self._each(
            lambda: self._memory.chat(text, bot=bot, conversation=conversation, model=model, request_key=request_key)
        )

    def say(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        model: str | None = None,
        request_key: str = "",
    ) -> Reply:
        return self._thread.call(
            lambda: self._memory.say(text, bot=bot, conversation=conversation, model=model, request_key=request_key)
        )

    def prepare(
        self,
        text: str,
        *,
        bot: str | None = None,
        conversation: Conversation | ConversationId | None = None,
        model: str | None = None,
    ) -> Prepared:
        return self._thread.call(lambda: self._memory.prepare(text, bot=bot, conversation=conversation, model=model))

    def record(
        self,
        prepared: Prepared,
        reply: str,
        *,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cut_off: bool = False,
    ) -> Recorded:
        return self._thread.call(
            lambda: self._memory.record(prepared, reply, tokens_in=tokens_in, tokens_out=tokens_out, cut_off=cut_off)
        )

    def begin(self, *, bot: str | None = None, title: str = "", model: str | None = None) -> Conversation:
        return self._thread.call(lambda: self._memory.begin(bot=bot, title=title, model=model))

    def conversations(self, *, bot: str | None = None) -> Iterator[Conversation]:
        return self._each(lambda: self._memory.conversations(bot=bot))

    def messages(self, conversation: Conversation | ConversationId) -> Iterator[Message]:
        return self._each(lambda: self._memory.messages(conversation))

    # --- memories ---

    def remember(
        self,
        text: str,
        *,
        bot: str | None = None,
        key: str | None = None,
        subject: str = "",
        pinned: bool = False,
        overwrite: bool = False,
    ) -> Remembered:
        return self._thread.call(
            lambda: self._memory.remember(text, bot=bot, key=key, subject=subject, pinned=pinned, overwrite=overwrite)
        )

    def memories(
        self,
        *,
        bot: str | None = None,
        everywhere: bool = False,
        shelf: Shelf = Shelf.ALL,
        order: Order = Order.UPDATED,
    ) -> Iterator[MemoryView]:
        return self._each(lambda: self._memory.memories(bot=bot, everywhere=everywhere, shelf=shelf, order=order))

    def page_of_memories(
        self,
        *,
        bot: str | None = None,
        everywhere: bool = False,
        shelf: Shelf = Shelf.ALL,
        order: Order = Order.UPDATED,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[MemoryView]:
        return self._thread.call(
            lambda: self._memory.page_of_memories(
                bot=bot, everywhere=everywhere, shelf=shelf, order=order, cursor=cursor, limit=limit
            )
        )

    def memory(self, memory_id: MemoryId) -> MemoryView:
        return self._thread.call(lambda: self._memory.memory(memory_id))

    def history(self, memory_id: MemoryId) -> tuple[Operation, ...]:
        return self._thread.call(lambda: self._memory.history(memory_id))

    def query(self, text: str, *, bot: str | None = None, messages: bool = False, limit: int | None = None) -> Hits:
        return self._thread.call(lambda: self._memory.query(text, bot=bot, messages=messages, limit=limit))

    def edit(
        self,
        memory_id: MemoryId,
        *,
        text: str | None = None,
        key: str | None = None,
        subject: str | None = None,
        seen: int | None = None,
    ) -> Memory:
        return self._thread.call(lambda: self._memory.edit(memory_id, text=text, key=key, subject=subject, seen=seen))

    def pin(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.pin(memory_id))

    def unpin(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.unpin(memory_id))

    def archive(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.archive(memory_id))

    def restore(self, memory_id: MemoryId) -> Memory:
        return self._thread.call(lambda: self._memory.restore(memory_id))

    def forget(self, *memory_ids: MemoryId) -> Erasure:
        return self._thread.call(lambda: self._memory.forget(*memory_ids))

    def undo(self, erasure: Erasure | ErasureId) -> Erasure:
        return self._thread.call(lambda: self._memory.undo(erasure))

    # --- bots ---

    def bots(self) -> Iterator[Bot]:
        return self._each(self._memory.bots)

    def bot(self, name: str) -> Bot:
        return self._thread.call(lambda: self._memory.bot(name))

    def add_bot(
        self,
        name: str,
        *,
        preset: Preset = Preset.COMPANION,
        system_prompt: str = "",
        model: str | None = None,
        settings: Mapping[str, str | bool] | None = None,
    ) -> Bot:
        return self._thread.call(
            lambda: self._memory.add_bot(
                name, preset=preset, system_prompt=system_prompt, model=model, settings=settings
            )
        )

    def change_bot(self, name: str, changes: Mapping[str, object]) -> Bot:
        return self._thread.call(lambda: self._memory.change_bot(name, changes))

    def level(self, bot: str) -> Level:
        return self._thread.call(lambda: self._memory.level(bot))

    def set_level(self, bot: str, level: Level) -> None:
        self._thread.call(lambda: self._memory.set_level(bot, level))

    # --- inside ---

    def _each(self, make: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
        items = self._thread.call(lambda: _made(make))
        try:
            while batch := self._thread.call(lambda: _next(items)):
                yield batch[0]
        finally:
            self._thread.finish(lambda: _ended(items))


async def _made(make: Callable[[], AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    return make()


async def _next(items: AsyncIterator[T]) -> tuple[T, ...]:
    """The next item alone, nothing at the end."""
    try:
        return (await anext(items),)
    except StopAsyncIteration:
        return ()


async def _ended(items: AsyncGenerator[T, None]) -> None:
    with suppress(RuntimeError):  # An interrupt has cancelled it, and it is still ending.
        await items.aclose()
