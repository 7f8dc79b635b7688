"""Saved memories: add, list, find, read, edit, pin, archive, erase; whoever calls counts as a person (V1)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from souvenance.app import browse
from souvenance.app.archive_memory import archive_memory
from souvenance.app.bring_back import bring_back
from souvenance.app.clear_scope import clear_pinned, clear_scope
from souvenance.app.edit_memory import edit_memory
from souvenance.app.erase import erase_memories
from souvenance.app.find_in_summaries import find_in_summaries
from souvenance.app.find_similar import find_similar
from souvenance.app.list_removed import list_removed
from souvenance.app.pin_memory import pin_memory
from souvenance.app.query_memories import Query as MemoryQuery
from souvenance.app.query_memories import query_memories
from souvenance.app.remember import NewMemory, remember
from souvenance.domain.ids import MemoryId, known_shape
from souvenance.ports.memories import Order, Shelf
from souvenance.server.caller import Caller, Here
from souvenance.server.forms import (
    ArchiveForm,
    BringBackForm,
    Cursor,
    EraseForm,
    Limit,
    MemoryChanges,
    NewMemoryForm,
    PinForm,
    QueryForm,
    parse_scope,
)
from souvenance.server.forms_of_drafts import SimilarForm
from souvenance.server.targets import target_of
from souvenance.server.views.drafts import SimilarsJson
from souvenance.server.views.memories import (
    ClearedJson,
    ErasureJson,
    HistoryJson,
    HitsJson,
    ListedMemoryJson,
    OperationJson,
    RememberedJson,
    RemovedJson,
    RoomJson,
    room_json,
)
from souvenance.server.views.page import PageJson

router = APIRouter(prefix="/memories", tags=["memories"])

Scoped = Annotated[str, Query(description="`account`, `bot:<id>` or `conversation:<id>`")]
PinnedCount = Annotated[int | None, Query(description="`pinned` of the answer to DELETE /memories")]


@router.get("")
async def list_(
    here: Here,
    *,
    scope: Scoped | None = None,
    shelf: Shelf = Shelf.ALL,
    order: Order = Order.UPDATED,
    cursor: Cursor = None,
    limit: Limit = None,
) -> PageJson[ListedMemoryJson]:
    """All scopes without `scope`."""
    page = await browse.list_memories(
        here.kit,
        here.owner_id,
        scope=None if scope is None else parse_scope("scope", scope),
        shelf=shelf,
        order=order,
        cursor=cursor,
        limit=limit,
    )
    return PageJson(items=[ListedMemoryJson.shown(view) for view in page.items], next=page.next)


@router.post("", status_code=201)
async def add(here: Here, form: NewMemoryForm, response: Response) -> RememberedJson:
    """201 for a new memory; 200 when one that says the same was there (M10)."""
    new = NewMemory(
        text=form.text,
        scope=parse_scope("scope", form.scope),
        key=form.key,
        subject=form.subject,
        pinned=form.pinned,
        overwrite=form.overwrite,
    )
    done = await remember(here.kit, here.owner_id, new)
    response.status_code = 201 if done.created else 200
    return RememberedJson(memory=await _shown(here, done.memory.memory_id), created=done.created)


@router.get("/room")
async def room(here: Here, scope: Scoped = "account") -> RoomJson:
    """How full a scope is; a limit of null means that there is none (M2)."""
    found = await browse.room(here.kit, here.owner_id, parse_scope("scope", scope))
    return room_json(scope, found)


@router.get("/removed")
async def removed(
    here: Here, *, scope: Scoped | None = None, cursor: Cursor = None, limit: Limit = None
) -> PageJson[RemovedJson]:
    """What models and passes removed, last first; all scopes without `scope` (M11)."""
    chosen = None if scope is None else parse_scope("scope", scope)
    page = await list_removed(here.kit, here.owner_id, scope=chosen, cursor=cursor, limit=limit)
    return PageJson(items=[RemovedJson.of(one) for one in page.items], next=page.next)


@router.delete("")
async def clear(here: Here, scope: Scoped) -> ClearedJson:
    """All unpinned ones of one scope; the answer counts the pinned ones, which stay (M9)."""
    return ClearedJson.of(await clear_scope(here.kit, here.owner_id, parse_scope("scope", scope)))


@router.delete("/pinned")
async def clear_pinned_(here: Here, scope: Scoped, count: PinnedCount = None) -> ErasureJson:
    """The pinned ones too, if `count` is how many there are now; else 409, and nothing is changed (M9)."""
    done = await clear_pinned(here.kit, here.owner_id, parse_scope("scope", scope), expected=count)
    return ErasureJson.of(done)


@router.post("/query")
async def query(here: Here, form: QueryForm) -> HitsJson:
    """Searches the archive too, and past messages with `messages` (Q1)."""
    scopes = None if form.scopes is None else tuple(parse_scope("scopes", scope) for scope in form.scopes)
    asked = MemoryQuery(text=form.text, scopes=scopes, messages=form.messages, limit=form.limit)
    return HitsJson.of(await query_memories(here.kit, here.owner_id, asked))


@router.post("/similar")
async def similar(here: Here, form: SimilarForm) -> SimilarsJson:
    """Memories that already say this text, equal ones first, archived ones too, and lines of summaries; nothing is
    stored (V4).
    """
    target = await target_of(here, bot=form.bot, scope=form.scope)
    found = await find_similar(here.kit, here.owner_id, form.text, target=target, key=form.key, subject=form.subject)
    lines = await find_in_summaries(here.kit, here.owner_id, form.text, target=target)
    return SimilarsJson.of(found, lines)


@router.post("/erase")
async def erase(here: Here, form: EraseForm) -> ErasureJson:
    """All of them or none; out of sight at once, gone once the offer to undo ends (M14)."""
    ids = [_id(raw) for raw in form.ids]
    return ErasureJson.of(await erase_memories(here.kit, here.owner_id, ids))


@router.get("/{memory_id}")
async def read(here: Here, memory_id: str) -> ListedMemoryJson:
    """One memory with its sources, as it is now."""
    return await _shown(here, _id(memory_id))


@router.patch("/{memory_id}")
async def edit(here: Here, memory_id: str, form: MemoryChanges) -> ListedMemoryJson:
    """A stale edit is refused with both texts (M10)."""
    edited = await edit_memory(
        here.kit,
        here.owner_id,
        _id(memory_id),
        seen=form.seen,
        text=form.text,
        key=form.key,
        subject=form.subject,
    )
    return await _shown(here, edited.memory_id)


@router.delete("/{memory_id}")
async def delete(here: Here, memory_id: str) -> ErasureJson:
    """Erases one; out of sight at once, gone once the offer to undo ends (M14)."""
    return ErasureJson.of(await erase_memories(here.kit, here.owner_id, [_id(memory_id)]))


@router.put("/{memory_id}/pin")
async def pin(here: Here, memory_id: str, form: PinForm) -> ListedMemoryJson:
    """A pin too many is refused with the figures (M2)."""
    changed = await pin_memory(here.kit, here.owner_id, _id(memory_id), pinned=form.pinned)
    return await _shown(here, changed.memory_id)


@router.put("/{memory_id}/archived")
async def archive(here: Here, memory_id: str, form: ArchiveForm) -> ListedMemoryJson:
    """Takes it out of every prompt, or lets it back in; it stays listed and can be found."""
    changed = await archive_memory(here.kit, here.owner_id, _id(memory_id), archived=form.archived)
    return await _shown(here, changed.memory_id)


@router.post("/{memory_id}/bring-back")
async def bring_back_(here: Here, memory_id: str, form: BringBackForm) -> ListedMemoryJson:
    """Let it say again what it said at a place of its history; by a deletion: before that (M11)."""
    back = await bring_back(here.kit, here.owner_id, _id(memory_id), form.place)
    return await _shown(here, back.memory_id)


@router.get("/{memory_id}/history")
async def history(here: Here, memory_id: str) -> HistoryJson:
    """Every change, oldest first (M11)."""
    operations = await browse.memory_history(here.kit, here.owner_id, _id(memory_id))
    return HistoryJson(items=[OperationJson.of(operation) for operation in operations])


def _id(raw: str) -> MemoryId:
    return MemoryId(known_shape("memory", raw))


async def _shown(here: Caller, memory_id: MemoryId) -> ListedMemoryJson:
    return ListedMemoryJson.shown(await browse.read_memory(here.kit, here.owner_id, memory_id))
