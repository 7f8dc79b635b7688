"""Delete a bot, and keep its memories as the account's or erase them with it (M8): one write, no half state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from souvenance.app.change_memories import hold
from souvenance.app.kit import Kit
from souvenance.domain.bot import Bot
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import BotId, ErasureId, OwnerId
from souvenance.domain.keep_memories import Kept, intents_of_move, moved
from souvenance.domain.memory import ACCOUNT_SCOPE, Memory, MemoryState, Scope
from souvenance.domain.terms import terms
from souvenance.errors import BadValue
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


class Memories(StrEnum):
    """What becomes of a deleted bot's memories."""

    KEEP = "keep"
    ERASE = "erase"

    @classmethod
    def read(cls, word: str) -> Memories:
        """BadValue for a word that is none of them."""
        try:
            return cls(word)
        except ValueError as e:
            raise BadValue("memories", value=word, expected=" or ".join(cls)) from e


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedBot:
    """`count` memories became the account's, or are gone; conversations with the bot stay readable."""

    bot: Bot
    memories: Memories
    count: int


async def delete_bot(kit: Kit, owner_id: OwnerId, bot_id: BotId, *, memories: Memories = Memories.KEEP) -> DeletedBot:
    """The bot is gone and its name is free. NotFound. Erased memories are gone at once: there is no offer to undo, and
    only their tombstones stay (M14).
    """
    now = kit.clock.now()
    erasure_id = ErasureId(kit.ids.new("era"))

    def work(unit: Unit) -> DeletedBot:
        unit.owners.hold()
        bot, scope = unit.bots.get(bot_id), Scope.of_bot(bot_id)
        for held in sorted((scope, ACCOUNT_SCOPE), key=lambda each: each.key):
            hold(unit, held)
        found = unit.memories.every(scope)
        if memories is Memories.KEEP:
            _keep(unit, found, now)
        else:
            _erase(unit, erasure_id, found, now)
        unit.drafts.remove([draft.draft_id for draft in unit.drafts.of_scopes([scope])])
        unit.scopes.remove(scope)
        unit.scopes.start_epoch(ACCOUNT_SCOPE)
        unit.bots.remove(bot_id)
        return DeletedBot(bot=bot, memories=memories, count=sum(one.state is MemoryState.LIVE for one in found))

    erases = memories is Memories.ERASE
    if erases:
        await kit.store.will_purge()
    deleted = await kit.store.write(owner_id, work, label="bot.deleted")
    if erases:
        await kit.store.scrub(deleted=True)
    return deleted


def _keep(unit: Unit, found: Sequence[Memory], now: datetime) -> None:
    """Same ids, pins and journal, even past M2's room; of those that say the same one stands (M10)."""
    wanted = [(memory, intents_of_move(memory)) for memory in found]
    count = sum(len(intents) for _, intents in wanted)
    last = unit.owners.next_place(count) if count else 0
    kept = moved(wanted, first_place=last - count + 1, at=now)
    unit.journal.append_all([operation for one in kept for operation in one.operations])
    unit.memories.save_moved([one.memory for one in kept])
    for one in kept:
        _index_again(unit, one)
    unit.memories.settle_equals([one.memory for one in kept])


def _index_again(unit: Unit, kept: Kept) -> None:
    """As a key and a value it had the same words, but for those that the sign between them parted."""
    if kept.memory.state is MemoryState.DELETED:
        if kept.before.state is not MemoryState.DELETED:
            unit.index.remove(Kind.MEMORY, kept.memory.memory_id)
        return
    if kept.memory.text == kept.before.text:
        return
    before, after = (sorted(terms(f"{m.key or m.subject} {m.text}")) for m in (kept.before, kept.memory))
    if before != after:
        unit.index.put(Kind.MEMORY, kept.memory.memory_id, after)


def _erase(unit: Unit, erasure_id: ErasureId, found: Sequence[Memory], now: datetime) -> None:
    if not found:
        return
    unit.owners.next_place()
    ids = tuple(memory.memory_id for memory in found)
    erasure = Erasure(erasure_id=erasure_id, memory_ids=ids, at=now, until=now)
    unit.erasures.begin(erasure)
    unit.erasures.purge(erasure)
