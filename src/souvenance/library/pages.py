"""Walk through all pages of a list."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from souvenance.app.browse import Page

T = TypeVar("T")


async def walk(page: Callable[[str | None], Awaitable[Page[T]]]) -> AsyncGenerator[T, None]:
    """Every item of every page; a page is read when its first item is asked for."""
    cursor: str | None = None
    while True:
        read = await page(cursor)
        for item in read.items:
            yield item
        if read.next is None:
            return
        cursor = read.next
