"""Drafts: made from a description or from messages, reviewed, saved or discarded (V5, V6, V10)."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.app import browse
from souvenance.app.draft_memories import Description, draft_memories
from souvenance.app.drafts import discard_draft, edit_draft, list_drafts
from souvenance.app.save_drafts import save_drafts
from souvenance.app.save_from_conversation import Selection, draft_from_messages
from souvenance.domain.ids import DraftId, MessageId, known_shape
from souvenance.server.caller import Here
from souvenance.server.forms import Cursor, Limit, parse_scope
from souvenance.server.forms_of_drafts import DraftChanges, FromMessagesForm, NewDraftsForm, SaveDraftsForm
from souvenance.server.targets import target_of
from souvenance.server.views.drafts import DraftedJson, DraftJson, SavedJson
from souvenance.server.views.memories import ListedMemoryJson, RememberedJson
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/drafts", tags=["drafts"])


@router.get("")
async def list_(here: Here, cursor: Cursor = None, limit: Limit = None) -> PageJson[DraftJson]:
    """Those that have not expired, oldest first."""
    page = await list_drafts(here.kit, here.owner_id, cursor=cursor, limit=limit)
    return PageJson(items=[DraftJson.of(draft) for draft in page.items], next=page.next)


@router.post("", status_code=201)
async def generate(here: Here, form: NewDraftsForm) -> DraftedJson:
    """A model drafts from the description alone; it reads no conversation (V5)."""
    target = await target_of(here, bot=form.bot, scope=form.scope)
    asked = Description(text=form.description, target=target, model=form.model)
    return DraftedJson.of(await draft_memories(here.kit, here.owner_id, asked))


@router.post("/from-messages", status_code=201)
async def from_messages(here: Here, form: FromMessagesForm) -> DraftedJson:
    """By a model, or the messages as they are; 403 where section 6 turns memory off (V6)."""
    ids = tuple(MessageId(known_shape("message", raw)) for raw in form.message_ids)
    selection = Selection(message_ids=ids, how=form.how, pinned=form.pinned, model=form.model)
    return DraftedJson.of(await draft_from_messages(here.kit, here.owner_id, selection))


@router.post("/save")
async def save(here: Here, form: SaveDraftsForm) -> SavedJson:
    """All of them or none; 409 with the figures when the room for pins is too small, 410 for an expired one."""
    ids = [_id(raw) for raw in form.ids]
    saved = await save_drafts(here.kit, here.owner_id, ids, overwrite=form.overwrite)
    views = [await browse.read_memory(here.kit, here.owner_id, one.memory.memory_id) for one in saved]
    return SavedJson(
        items=[
            RememberedJson(memory=ListedMemoryJson.shown(view), created=one.created)
            for view, one in zip(views, saved, strict=True)
        ]
    )


@router.patch("/{draft_id}")
async def edit(here: Here, draft_id: str, form: DraftChanges) -> DraftJson:
    """Fields that are left out stay; 410 for an expired one."""
    changed = await edit_draft(
        here.kit,
        here.owner_id,
        _id(draft_id),
        text=form.text,
        key=form.key,
        pinned=form.pinned,
        scope=None if form.scope is None else parse_scope("scope", form.scope),
    )
    return DraftJson.of(changed)


@router.delete("/{draft_id}", status_code=204)
async def discard(here: Here, draft_id: str) -> None:
    """Drops it; nothing is remembered."""
    await discard_draft(here.kit, here.owner_id, _id(draft_id))


def _id(raw: str) -> DraftId:
    return DraftId(known_shape("draft", raw))
