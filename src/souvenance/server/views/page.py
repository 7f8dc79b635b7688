"""One page of a list."""

from __future__ import annotations

from typing import Generic, TypeVar

from souvenance.server.views.view import View

T = TypeVar("T")


class PageJson(View, Generic[T]):
    """`next` is the cursor of the page that follows, null on the last one."""

    items: list[T]
    next: str | None
