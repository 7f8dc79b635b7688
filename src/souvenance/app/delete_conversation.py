"""A person deletes a conversation for good; memories drawn from it stay, or those drawn only from it go too (D1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from souvenance.app.change_memories import hold
from souvenance.app.delete_bot import Memories
from souvenance.app.forget_dead import forget_dead
from souvenance.app.kit import Kit
from souvenance.app.purge_ended import drop_drafts
from souvenance.app.undisturbed import undisturbed
from souvenance.app.undo_writes import undo_writes
from souvenance.domain.erasure import Erasure
from souvenance.domain.ids import ConversationId, ErasureId, MessageId, OwnerId
from souvenance.domain.journal import drawn_only_from
from souvenance.domain.memory import Memory, MemoryState, Scope
from souvenance.ports.memories import Kind
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedConversation:
    """`erased` counts the memories that went with it, its session memory among them."""

    conversation_id: ConversationId
    memories: Memories
    erased: int


async def delete_conversation(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, *, memories: Memories = Memories.KEEP
) -> DeletedConversation:
    """The conversation is gone with all that was said and sent there; its forks stay whole.

    What it wrote and what stands by no other conversation stands on its own from now on; with ERASE the memories that
    were drawn from nothing else are gone at once, with tombstones and without an offer to undo (M14). NotFound;
    ConversationBusy while a reply is being written there.
    """
    now = kit.clock.now()
    nothing = Erasure(erasure_id=ErasureId(kit.ids.new("era")), memory_ids=(), at=now, until=now)

    def work(unit: Unit) -> DeletedConversation:
        unit.owners.hold()
        unit.conversations.lock(conversation_id)
        erased = _delete(unit, conversation_id, memories, nothing)
        return DeletedConversation(conversation_id=conversation_id, memories=memories, erased=erased)

    async with undisturbed(kit, owner_id, conversation_id):
        await kit.store.will_purge()
        deleted = await kit.store.write(owner_id, work, label="conversation.deleted")
    await kit.store.scrub(deleted=True)
    return deleted


def _delete(unit: Unit, conversation_id: ConversationId, memories: Memories, nothing: Erasure) -> int:
    held = unit.branches.held(conversation_id)
    origins, message_ids = [one.origin_id for one in held], [one.message_id for one in held]
    unit.branches.cut(conversation_id, after=-1)
    session = Scope.of_conversation(conversation_id)
    gone = unit.memories.every(session)
    if memories is Memories.ERASE:
        gone += [memory for memory in _drawn_only(unit, conversation_id, origins) if memory.scope != session]
        # What a fork holds only as a reply that is not chosen is its to choose: it does not stand on its own (T3).
        undo_writes(unit, sorted(unit.branches.still_held(origins)), nothing.at)
    unit.journal.let_go(origins)
    _erase(unit, gone, nothing)
    forget_dead(unit, origins)
    unit.drafts.remove([draft.draft_id for draft in unit.drafts.of_scopes([session])])
    unit.prompts.forget_conversation(conversation_id)
    unit.prompts.blank(message_ids)
    unit.drafts.remove_drawn_from(message_ids)
    unit.index.remove_all(Kind.MESSAGE, message_ids)
    unit.branches.remove_conversation(conversation_id)
    return sum(memory.state is MemoryState.LIVE for memory in gone)


def _drawn_only(unit: Unit, conversation_id: ConversationId, origins: Sequence[MessageId]) -> list[Memory]:
    """The memories, in any state, that say nothing but what was drawn from messages that nobody holds any more: those
    of this conversation, and those that were taken back or edited there before.
    """
    drawn = {*unit.journal.drawn_from(origins), *unit.journal.drawn_in(conversation_id)}
    journal = unit.journal.of_memories(sorted(drawn))
    named = {cause.message for done in journal.values() for one in done for cause in one.causes}
    lost = named - unit.branches.still_held(sorted(named))
    return unit.memories.many([memory_id for memory_id, done in journal.items() if drawn_only_from(done, lost)])


def _erase(unit: Unit, gone: Sequence[Memory], nothing: Erasure) -> None:
    """Hide and purge in one go; what stood behind one of these and was drawn from elsewhere comes into sight."""
    if not gone:
        return
    scopes = sorted({memory.scope for memory in gone}, key=lambda scope: scope.key)
    for scope in scopes:
        hold(unit, scope)
        unit.scopes.start_epoch(scope)
    unit.owners.next_place()
    erasure = replace(nothing, memory_ids=tuple(memory.memory_id for memory in gone))
    unit.erasures.begin(erasure)
    drop_drafts(unit, erasure)
    unit.erasures.purge(erasure)
    unit.memories.settle_equals(gone)
