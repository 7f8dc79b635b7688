"""Drafts between drafting and saving: made, listed, changed, discarded (V10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from souvenance.app.ask_twice import Charge
from souvenance.app.browse import Page, Room, page_size, room
from souvenance.app.cursor import decode, encode
from souvenance.app.kit import Kit
from souvenance.app.remember import check_scope
from souvenance.domain.conversation import Message
from souvenance.domain.draft import Draft
from souvenance.domain.ids import BotId, DraftId, MessageId, OwnerId
from souvenance.domain.limits import Limits
from souvenance.domain.memory import Origin, Scope, ScopeKind
from souvenance.domain.text import clean, clean_key
from souvenance.errors import BadValue, Conflict, DraftExpired
from souvenance.ports.store import Unit
from souvenance.prompts.draft_memories import Proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """What a drafting left to be reviewed. `room` is that of the scope the drafts are for; `charge` is None when no
    model was asked; `note` tells a person what the drafts were drawn from.
    """

    drafts: tuple[Draft, ...]
    room: Room
    charge: Charge | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What drafts are made of; all of one batch share it but for the sources, of which each text has its own. `said`:
    the messages that were read.
    """

    scope: Scope
    origin: Origin
    pinned: bool
    note: str
    proposed: tuple[Proposed, ...]
    sources: tuple[tuple[MessageId, ...], ...]
    said: tuple[Message, ...] = ()


async def keep_drafts(kit: Kit, owner_id: OwnerId, material: Material, charge: Charge | None = None) -> Drafted:
    """Keep these to be reviewed; NotFound when the scope is there no more, Conflict when a message is not as it was."""
    drafts = _made(kit, material)
    old = kit.clock.now() - timedelta(days=kit.limits.draft_days)

    def work(unit: Unit) -> None:
        unit.owners.hold()
        check_scope(unit, material.scope, keyed=True)
        _refuse_changed(unit, material.said)
        unit.drafts.forget_ended(old)
        unit.drafts.put_all(drafts)

    await kit.store.write(owner_id, work, label="drafts.kept")
    return Drafted(
        drafts=drafts,
        room=await room(kit, owner_id, material.scope),
        charge=charge,
        note=material.note,
    )


def _refuse_changed(unit: Unit, said: Sequence[Message]) -> None:
    """A person may edit or delete a message while a model drafts from it: its old words must not outlive that (T7)."""
    now = {message.message_id: message.origin_id for message in unit.messages.many([one.message_id for one in said])}
    for message in said:
        if now.get(message.message_id) != message.origin_id:
            raise Conflict(
                f"Message {message.message_id} was changed or removed while drafts were made of it. Nothing was kept.",
                id=message.message_id,
            )


def _made(kit: Kit, material: Material) -> tuple[Draft, ...]:
    now, batch = kit.clock.now(), kit.ids.new("dra")
    return tuple(
        Draft(
            draft_id=DraftId(kit.ids.new("drf")),
            batch=batch,
            scope=material.scope,
            origin=material.origin,
            text=one.text,
            key=one.key,
            pinned=material.pinned,
            sources=sources,
            created_at=now,
            until=now + timedelta(days=kit.limits.draft_days),
        )
        for one, sources in zip(material.proposed, material.sources, strict=True)
    )


async def list_drafts(
    kit: Kit, owner_id: OwnerId, *, cursor: str | None = None, limit: int | None = None
) -> Page[Draft]:
    """The drafts that have not expired, oldest first."""
    most = page_size(kit, limit)
    after = None if cursor is None else DraftId(decode(cursor, "drafts"))
    now = kit.clock.now()
    found = await kit.store.read(
        owner_id, lambda unit: unit.drafts.page(now=now, after=after, limit=most + 1), label="drafts.listed"
    )
    more = len(found) > most
    return Page(items=tuple(found[:most]), next=encode("drafts", found[most - 1].draft_id) if more else None)


async def edit_draft(
    kit: Kit,
    owner_id: OwnerId,
    draft_id: DraftId,
    *,
    text: str | None = None,
    key: str | None = None,
    pinned: bool | None = None,
    scope: Scope | None = None,
) -> Draft:
    """The draft as changed; what is None stays, an empty `key` takes the key away. Limits are those of memories (M3).

    Raises DraftExpired, NotFound, and the errors of unusable texts.
    """
    if text is None and key is None and pinned is None and scope is None:
        raise BadValue("text", value=None, expected="a new text, key, pinned or scope")
    now = kit.clock.now()

    def work(unit: Unit) -> Draft:
        unit.owners.hold()
        draft = standing(unit, draft_id, now)
        changed = replace(
            draft,
            text=draft.text if text is None else text,
            key=draft.key if key is None else key or None,
            pinned=draft.pinned if pinned is None else pinned,
            scope=draft.scope if scope is None else scope,
        )
        check_scope(unit, changed.scope, keyed=True)
        checked = fitting(kit.limits, changed, keyed=is_notebook(unit, changed.scope))
        unit.drafts.save(checked)
        return checked

    return await kit.store.write(owner_id, work, label="draft.edited")


async def discard_draft(kit: Kit, owner_id: OwnerId, draft_id: DraftId) -> None:
    """Drop a draft, expired or not; NotFound when there is none."""

    def work(unit: Unit) -> None:
        unit.owners.hold()
        unit.drafts.get(draft_id)
        unit.drafts.remove([draft_id])

    await kit.store.write(owner_id, work, label="draft.discarded")


def standing(unit: Unit, draft_id: DraftId, now: datetime) -> Draft:
    """The draft if it has not expired; DraftExpired, NotFound."""
    draft = unit.drafts.get(draft_id)
    if now >= draft.until:
        raise DraftExpired(draft_id, until=draft.until.isoformat())
    return draft


def is_notebook(unit: Unit, scope: Scope) -> bool:
    return scope.kind is ScopeKind.BOT and unit.bots.get(BotId(scope.ref)).is_notebook


def fitting(limits: Limits, draft: Draft, *, keyed: bool) -> Draft:
    """The draft within M3's limits; one of a notebook (`keyed`) may lack its key until it is saved."""
    if draft.key is None and not keyed:
        return replace(draft, text=clean("text", draft.text, limit=limits.memory_characters))
    key = None if draft.key is None else clean_key(draft.key, limit=limits.key_characters)
    return replace(draft, key=key, text=clean("value", draft.text, limit=limits.value_characters))


def texts(proposed: Sequence[str]) -> tuple[Proposed, ...]:
    """Texts as they are, without keys."""
    return tuple(Proposed(text=text) for text in proposed)
