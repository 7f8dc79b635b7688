"""The words of a summary node: a model's where there is one, else sentences of what was said (S2–S5, S11, S13)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from souvenance.app.hear_rules import Heard, hear_rules
from souvenance.app.kit import Kit
from souvenance.app.off_loop import off_loop
from souvenance.app.pen import (
    Pen,
    Written,
    answer_of,
    by_model,
    items_told,
    lines_of,
    olds_of,
    spot_of,
)
from souvenance.app.who_said import Names, who_said
from souvenance.domain.combine import combine, condense
from souvenance.domain.conversation import Message
from souvenance.domain.extract import Heard as Sentences
from souvenance.domain.extract import extract
from souvenance.domain.node_text import text_of
from souvenance.domain.summary import Item, Rule
from souvenance.prompts import condense as condensing
from souvenance.prompts import merge as merging
from souvenance.prompts import refresh as refreshing
from souvenance.prompts import summarise as summarising
from souvenance.prompts.numbered import Room


async def write_recent(pen: Pen, said: Sequence[Message], names: Names, rules: Sequence[Rule]) -> Written:
    """What stands for these messages, at least one, and the rules in them beside those that stand."""
    kit, most = pen.kit, pen.kit.limits.recent_tokens(pen.level)
    in_force = [rule for rule in rules if rule.in_force]
    heard = await off_loop(_size(said), lambda: hear_rules(kit, said, rules))
    question = summarising.ask(
        lines_of(said, names), Room(level=pen.level, tokens=most), rules=[rule.text for rule in in_force]
    )
    parse = partial(summarising.parse, lines=len(said), rules=len(in_force))
    answered = await answer_of(pen, question, parse, most)
    if answered is None:
        found = await extracted(kit, said, names, most)
        return Written(items=found, rules=heard.found, closings=heard.closings)
    theirs = await off_loop(_size(said), lambda: Heard.of_model(kit, answered.summary, said, in_force))
    known = {rule.text for rule in heard.found}
    return by_model(
        answered,
        items_told(answered.summary.items, [(spot_of(message), spot_of(message)) for message in said]),
        f"summarise-{summarising.VERSION}",
        rules=(*heard.found, *(rule for rule in theirs.found if rule.text not in known)),
        closings=(*heard.closings, *theirs.closings),
    )


async def write_merged(pen: Pen, items: Sequence[Item], most: int) -> Written:
    """What stands for several nodes' items, within about `most` tokens."""
    olds = olds_of(items)
    question = merging.ask(olds, Room(level=pen.level, tokens=most))
    answered = await answer_of(pen, question, partial(merging.parse, olds=olds), most) if items else None
    if answered is None:
        return Written(items=await _combined(pen.kit, items, most))
    told = items_told(answered.summary.items, [(item.first, item.last) for item in items])
    return by_model(answered, told, f"merge-{merging.VERSION}")


async def write_condensed(pen: Pen, items: Sequence[Item], most: int) -> Written:
    """The same in at most `most` tokens: what a model leaves too long is shortened by code (S5)."""
    olds = olds_of(items)
    question = condensing.ask(olds, Room(level=pen.level, tokens=most))
    answered = await answer_of(pen, question, partial(condensing.parse, olds=olds), most)
    if answered is None:
        return Written(items=await _condensed(pen.kit, items, most))
    told = items_told(answered.summary.items, [(item.first, item.last) for item in items])
    return by_model(answered, await _condensed(pen.kit, told, most), f"condense-{condensing.VERSION}")


async def rewrite_from_messages(pen: Pen, said: Sequence[Message], gone: Sequence[Item], names: Names) -> Written:
    """New items for those that go, from what these messages say now (S9)."""
    most, olds = _room_of(pen, gone), olds_of(gone)
    if not gone:
        return Written(items=await extracted(pen.kit, said, names, most))
    question = refreshing.ask(lines_of(said, names), olds, Room(level=pen.level, tokens=most))
    answered = await answer_of(pen, question, partial(refreshing.parse, left=len(said), gone=olds), most)
    if answered is None:
        return Written(items=await extracted(pen.kit, said, names, most))
    told = items_told(answered.summary.items, [(spot_of(message), spot_of(message)) for message in said])
    return by_model(answered, told, f"refresh-{refreshing.VERSION}")


async def rewrite_from_items(pen: Pen, left: Sequence[Item], gone: Sequence[Item]) -> Written:
    """New items for those that go, from what the nodes below say now (S9)."""
    most, olds = _room_of(pen, gone), olds_of(gone)
    question = refreshing.ask(olds_of(left), olds, Room(level=pen.level, tokens=most))
    answered = await answer_of(pen, question, partial(refreshing.parse, left=len(left), gone=olds), most)
    if answered is None:
        return Written(items=await _combined(pen.kit, left, most))
    told = items_told(answered.summary.items, [(item.first, item.last) for item in left])
    return by_model(answered, told, f"refresh-{refreshing.VERSION}")


async def extracted(kit: Kit, said: Sequence[Message], names: Names, most: int) -> tuple[Item, ...]:
    """Sentences of these messages, within `most` tokens (S11)."""
    heard = [
        Sentences(
            spot=spot_of(message),
            role=message.role,
            who=who_said(message, names),
            text=message.text,
            at=message.created_at,
            time_zone=message.time_zone,
        )
        for message in said
    ]
    return await off_loop(_size(said), lambda: extract(heard, kit.phrases, most_tokens=most, count=kit.tokenizer.count))


async def _combined(kit: Kit, items: Sequence[Item], most: int) -> tuple[Item, ...]:
    return await off_loop(_size(items), lambda: combine(items, most_tokens=most, count=kit.tokenizer.count))


async def _condensed(kit: Kit, items: Sequence[Item], most: int) -> tuple[Item, ...]:
    def work() -> tuple[Item, ...]:
        if kit.tokenizer.count(text_of(items)) <= most:
            return tuple(items)
        return condense(items, most_tokens=most, count=kit.tokenizer.count)

    return await off_loop(_size(items), work)


def _room_of(pen: Pen, gone: Sequence[Item]) -> int:
    """About what they took; a little even where nothing was drawn from what changed."""
    taken = pen.kit.tokenizer.count(text_of(gone))
    return max(taken, pen.kit.limits.recent_tokens(pen.level) // 4)


def _size(texts: Sequence[Message] | Sequence[Item]) -> int:
    return sum(len(one.text) for one in texts)
