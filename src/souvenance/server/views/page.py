"""One page of a list."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class PageJson(BaseModel, Generic[T]):
    """`next` is the cursor of the page that follows, null on the last one."""

    items: list[T]
    next: str | None
