"""What a conversation in an organisation reads of it: one more read, bound to the organisation (P3, HOUSE 7).

Whoever opens a conversation there must be a member of it; that is checked where it is opened, not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from souvenance.app.kit import Kit
from souvenance.app.open_turn import OpenedTurn
from souvenance.app.query_memories import Hits, Query, query_memories
from souvenance.domain.ids import OwnerId
from souvenance.domain.memory import ORGANISATION_SCOPE, Memory, ScopeKind
from souvenance.domain.policy import Policy
from souvenance.ports.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganisationMemory:
    """The organisation's pinned memories, in the order of their place; the others are found by `memory_query`."""

    pinned: tuple[Memory, ...] = ()

    @property
    def basis(self) -> dict[str, str]:
        """What a memory block stands on: any change of these begins another one (C6)."""
        return {f"organisation {memory.memory_id}": str(memory.version) for memory in self.pinned}


NOTHING = OrganisationMemory()


async def read_organisation(kit: Kit, policy: Policy, opened: OpenedTurn) -> OrganisationMemory:
    """Nothing outside an organisation, and where the policy keeps its memory out (O1, O3, O4)."""
    organisation = _read_here(policy, opened)
    if organisation is None:
        return NOTHING

    def work(unit: Unit) -> OrganisationMemory:
        return OrganisationMemory(pinned=tuple(unit.memories.pinned(ORGANISATION_SCOPE)))

    return await kit.store.read(organisation, work, label="organisation.read")


async def find_in_organisation(kit: Kit, policy: Policy, opened: OpenedTurn, text: str) -> Hits:
    """What fits these words in the memory of the organisation that this conversation is in; else nothing."""
    organisation = _read_here(policy, opened)
    if organisation is None:
        return Hits()
    return await query_memories(kit, organisation, Query(text=text, scopes=(ORGANISATION_SCOPE,)))


def joined(hits: Sequence[Hits], *, most: int) -> Hits:
    """Both owners' hits as one list, best first, ties by id; the messages are the first's."""
    memories = [hit for found in hits for hit in found.memories]
    best = sorted(memories, key=lambda hit: (-hit.score, hit.memory.memory_id))[:most]
    return replace(hits[0], memories=tuple(best))


def _read_here(policy: Policy, opened: OpenedTurn) -> OwnerId | None:
    return opened.conversation.organisation_id if ScopeKind.ORGANISATION in policy.reads else None
