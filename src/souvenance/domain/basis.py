"""When a memory block may stay as it is, and when a new epoch must begin (C6)."""

from __future__ import annotations

from collections.abc import Mapping

from souvenance.domain.epoch import Epoch


def basis(
    *, window_start: int, level: str, policy: str, speaker: str, scopes: Mapping[str, int], summary: str = ""
) -> dict[str, str]:
    """All that must be the same for the block to stay: a compaction, a level, a policy, the speaker's own settings, or
    a scope in which a person edited, pinned or erased, or something was undone, each begins a new epoch.
    """
    summarised = {"summary": summary} if summary else {}
    return {
        "window": str(window_start),
        "level": level,
        "policy": policy,
        "speaker": speaker,
        **summarised,
        **scope_words(scopes),
    }


def scope_words(scopes: Mapping[str, int]) -> dict[str, str]:
    """The part of a basis that says where each scope stands, by the scope's key."""
    return {f"scope {key}": str(epoch) for key, epoch in sorted(scopes.items())}


def holds(epoch: Epoch | None, now: Mapping[str, str]) -> bool:
    return epoch is not None and dict(epoch.basis) == dict(now)
