"""Where the live window begins in a conversation that ends elsewhere than before: rewound, forked, cut (T2, T4)."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import datetime

from souvenance.app.due_work import Work, make_due
from souvenance.domain.conversation import Channel, Conversation, Message
from souvenance.domain.limits import Level, Limits
from souvenance.domain.window import TurnSize, begin, bounds
from souvenance.ports.store import Unit


def begin_window(unit: Unit, limits: Limits, conversation: Conversation, now: datetime) -> Conversation:
    """The conversation with its window as it was; when nothing of it is left, or turns before it wait and there is room
    for them, with one that is filled anew from the newest turns. What lies between summary and window waits, and is due
    to be summarised; what a node stands for never comes back (W4, W6). All else of the conversation is right already.

    The model's context may be smaller than the level's figures: then the next turn moves the window on.
    """
    here, after = conversation.conversation_id, conversation.summarised_to
    kept = conversation.window_start if conversation.last_position >= conversation.window_start else sys.maxsize
    if kept < sys.maxsize and not unit.branches.said_between(here, after, kept):
        return replace(conversation, waiting=0)
    start = min(kept, _filled_anew(unit, limits, conversation))
    waiting = unit.branches.said_between(here, after, start)
    if waiting:
        make_due(unit, Work.SUMMARY, here, unit.owner_id, now)
    return replace(conversation, window_start=start, waiting=waiting)


def _filled_anew(unit: Unit, limits: Limits, conversation: Conversation) -> int:
    """Where the window begins that takes the newest turns which no node stands for."""
    window = bounds(level_of(unit, conversation), limits, context=sys.maxsize)
    newest = unit.messages.page(conversation.conversation_id, before=None, limit=window.messages + 1)
    told = [message for message in newest if message.position > conversation.summarised_to]
    # The last turn stays word for word although a node stands for it (W5).
    return begin(_turns(told), window, limits) if told else max(0, conversation.last_position)


def level_of(unit: Unit, conversation: Conversation) -> Level:
    """W2."""
    if conversation.bot_id is None or conversation.channel in (Channel.TELEGRAM, Channel.DISCORD):
        return Level.BALANCED
    return unit.levels.get(conversation.bot_id) or Level.BALANCED


def in_window(unit: Unit, conversation: Conversation) -> int:
    """How many messages the next one is sent with word for word, those that a node stands for by now left out."""
    start = max(conversation.window_start, conversation.summarised_to + 1)
    return unit.branches.said_between(conversation.conversation_id, start - 1, conversation.last_position + 1)


def _turns(newest_first: list[Message]) -> list[TurnSize]:
    """The oldest one may lack messages; with those that are here it is past any window already."""
    sizes: dict[int, TurnSize] = {}
    for message in reversed(newest_first):
        size = sizes.get(message.position, TurnSize(position=message.position, messages=0, tokens=0))
        sizes[message.position] = replace(size, messages=size.messages + 1, tokens=size.tokens + message.tokens)
    return list(sizes.values())
