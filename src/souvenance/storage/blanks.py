"""Blanks: frozen values that are read by the thousand are filled in as plain ones, then become what they are."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def blank_of(kind: type[Any]) -> type[Any]:
    """A class with the slots of this frozen, slotted dataclass: one filled becomes such a value by `__class__ = kind`.

    The own way of a frozen one sets each field through a call: ten times as long for a memory, of which a turn reads
    hundreds and a fold thousands (Z3).
    """
    return type(f"_Blank{kind.__name__}", (), {"__slots__": tuple(field.name for field in fields(kind))})
