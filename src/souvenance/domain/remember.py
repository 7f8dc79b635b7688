"""What becomes of a fact that somebody wants stored, given what is there already (M5, M10)."""

from __future__ import annotations

from dataclasses import dataclass

from souvenance.domain.journal import Actor
from souvenance.domain.memory import Memory


@dataclass(frozen=True, slots=True)
class AddNew:
    """Nothing like it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """It is there: one more source, and for a key the new value."""

    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAndPinned:
    """It is there, pinned: nobody but a person touches it, and there is nothing to say anew."""

    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldByPin:
    """A pinned key holds another value; only a person may change it."""

    memory: Memory


Decision = AddNew | Confirm | KnownAndPinned | HeldByPin


def decide(existing: Memory | None, *, text: str, actor: Actor) -> Decision:
    """`existing` is the live memory of equal text, or of the same key."""
    if existing is None:
        return AddNew()
    if existing.pinned and actor is not Actor.PERSON:
        changes_value = existing.key is not None and existing.text != text
        return HeldByPin(memory=existing) if changes_value else KnownAndPinned(memory=existing)
    return Confirm(memory=existing)
