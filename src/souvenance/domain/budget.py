"""How much of a model's context a prompt may take (W7)."""

from __future__ import annotations

from collections.abc import Mapping

from souvenance.domain.limits import Limits

MESSAGE_OVERHEAD = 4
"""Tokens that a message costs beside its text, in most chat templates."""


def reply_room(fields: Mapping[str, object], *, context: int, limits: Limits) -> int:
    """Tokens kept for the reply: what the caller allows it, else the default; at most half of the context."""
    asked = fields.get("max_completion_tokens", fields.get("max_tokens"))
    wanted = asked if isinstance(asked, int) and not isinstance(asked, bool) and asked > 0 else limits.reply_tokens
    return min(wanted, context // 2)
