"""Ids are types of their own: `<prefix>_<lower-case letters and digits>`, never reused."""

from __future__ import annotations

import re
from typing import NewType

from souvenance.errors import NotFound

OwnerId = NewType("OwnerId", str)
BotId = NewType("BotId", str)
PersonaId = NewType("PersonaId", str)
ConversationId = NewType("ConversationId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)
MemoryId = NewType("MemoryId", str)
ErasureId = NewType("ErasureId", str)
DraftId = NewType("DraftId", str)
PromptId = NewType("PromptId", str)
NotificationId = NewType("NotificationId", str)
NodeId = NewType("NodeId", str)
RuleId = NewType("RuleId", str)
RebuildId = NewType("RebuildId", str)

LOCAL_ACCOUNT = OwnerId("own_local")
"""The one account of local use."""

_SHAPE = re.compile(r"[a-z]{3}_[a-z0-9]{1,32}")


def known_shape(kind: str, raw: str) -> str:
    """`raw` if it could be an id at all; else NotFound, as for an id that does not exist."""
    if not _SHAPE.fullmatch(raw):
        raise NotFound(kind, raw)
    return raw
