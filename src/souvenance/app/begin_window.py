"""Where the live window begins in a conversation that ends elsewhere than before: rewound, forked, cut (T2, T4)."""

from __future__ import annotations

import sys
from dataclasses import replace

from souvenance.domain.conversation import Channel, Conversation, Message
from souvenance.domain.limits import Level, Limits
from souvenance.domain.window import TurnSize, begin, bounds
from souvenance.ports.store import Unit


def begin_window(unit: Unit, limits: Limits, conversation: Conversation) -> Conversation:
    """The conversation with its window as it was; when nothing of it is left, with one that is filled anew from the
    newest turns, what lies before it waiting (W4, W6). `messages` and `last_position` are right already.

    The model's context may be smaller than the level's figures: then the next turn moves the window on.
    """
    if conversation.last_position >= conversation.window_start:
        return conversation
    window = bounds(_level(unit, conversation), limits, context=sys.maxsize)
    newest = unit.messages.page(conversation.conversation_id, before=None, limit=window.messages + 1)
    if not newest:
        return replace(conversation, window_start=0, waiting=0)
    start = begin(_turns(newest), window, limits)
    held = sum(message.position >= start for message in newest)
    return replace(conversation, window_start=start, waiting=conversation.messages - held)


def _level(unit: Unit, conversation: Conversation) -> Level:
    """W2."""
    if conversation.bot_id is None or conversation.channel in (Channel.TELEGRAM, Channel.DISCORD):
        return Level.BALANCED
    return unit.levels.get(conversation.bot_id) or Level.BALANCED


def _turns(newest_first: list[Message]) -> list[TurnSize]:
    """The oldest one may lack messages; with those that are here it is past any window already."""
    sizes: dict[int, TurnSize] = {}
    for message in reversed(newest_first):
        size = sizes.get(message.position, TurnSize(position=message.position, messages=0, tokens=0))
        sizes[message.position] = replace(size, messages=size.messages + 1, tokens=size.tokens + message.tokens)
    return list(sizes.values())
