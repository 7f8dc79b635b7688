"""Drafts on both databases: kept until saved, discarded or expired, then without a trace of their text (V10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MessageId
from souvenance.domain.memory import ACCOUNT_SCOPE, Origin, Scope
from souvenance.errors import NotFound
from souvenance.ports.store import Store, Unit
from tests.conformance.facts import read, write
from tests.conformance.rows import ALICE, BOB, NOW, later

BOT_SCOPE = Scope.parse("bot:bot_1")


def draft(number: int = 1, **other: Any) -> Draft:
    """Expires `number` seconds after NOW, unless told otherwise."""
    given: dict[str, Any] = {
        "batch": "dra_1",
        "scope": ACCOUNT_SCOPE,
        "origin": Origin.GENERATED,
        "text": f"Likes tea number {number}",
        "created_at": NOW,
        "until": later(number),
        **other,
    }
    return Draft(draft_id=DraftId(f"drf_{number:05}"), **given)


async def test_v10_a_draft_reads_back_as_it_was_written_and_is_its_owners_alone(store: Store) -> None:
    kept = draft(scope=BOT_SCOPE, key="drink", pinned=True, sources=(MessageId("msg_1"), MessageId("msg_2")))
    await write(store, lambda unit: unit.drafts.put_all([kept]))
    assert await read(store, lambda unit: unit.drafts.get(kept.draft_id)) == kept
    changed = replace(kept, text="Likes coffee", key=None, scope=ACCOUNT_SCOPE, pinned=False)
    await write(store, lambda unit: unit.drafts.save(changed))
    assert await read(store, lambda unit: unit.drafts.get(kept.draft_id)) == changed
    for at_bobs in (lambda unit: unit.drafts.get(kept.draft_id), lambda unit: unit.drafts.save(kept)):
        with pytest.raises(NotFound):
            await write(store, at_bobs, BOB)
    await write(store, lambda unit: unit.drafts.remove([kept.draft_id]), BOB)
    await write(store, lambda unit: unit.drafts.remove([DraftId("drf_99999")]))
    assert await read(store, lambda unit: unit.drafts.page(now=NOW, after=None, limit=9)) == [changed]
    await write(store, lambda unit: unit.drafts.remove([kept.draft_id]))
    assert await read(store, lambda unit: unit.drafts.page(now=NOW, after=None, limit=9)) == []


async def test_v10_pages_hold_what_has_not_expired_in_order_of_id(store: Store) -> None:
    drafts = [draft(n) for n in range(1, 6)]
    await write(store, lambda unit: unit.drafts.put_all(drafts))

    async def page(after: DraftId | None) -> list[Draft]:
        return await read(store, lambda unit: unit.drafts.page(now=later(2), after=after, limit=2))

    assert await page(None) == drafts[2:4]
    assert await page(drafts[3].draft_id) == drafts[4:]


async def test_v10_drafts_go_with_a_message_that_they_were_drawn_from(store: Store) -> None:
    one, two = MessageId("msg_1"), MessageId("msg_2")
    drafts = [draft(1, sources=(one,)), draft(2, sources=(two, one)), draft(3, sources=(two,)), draft(4)]
    for owner_id in (ALICE, BOB):
        await write(store, lambda unit: unit.drafts.put_all(drafts), owner_id)
    await write(store, lambda unit: unit.drafts.remove_drawn_from([one, MessageId("msg_9")]))
    for owner_id, left in ((ALICE, drafts[2:]), (BOB, drafts)):
        assert await read(store, lambda unit: unit.drafts.page(now=NOW, after=None, limit=9), owner_id) == left


async def test_v10_an_expired_draft_is_purged_of_its_text_and_forgotten_later(store: Store) -> None:
    drafts = [draft(n, key="drink", scope=BOT_SCOPE, sources=(MessageId("msg_1"),)) for n in (1, 2)]
    await write(store, lambda unit: unit.drafts.put_all(drafts))
    await write(store, lambda unit: unit.drafts.put_all(drafts), BOB)

    def purge(unit: Unit) -> int:
        return unit.drafts.purge_ended(later(1))

    assert await store.owners_with_ended_offers(NOW) == []
    assert sorted(await store.owners_with_ended_offers(later(1))) == [ALICE, BOB]
    assert [await write(store, purge) for _ in range(2)] == [1, 0]
    assert await store.owners_with_ended_offers(later(1)) == [BOB]
    left = replace(drafts[0], text="", key=None, sources=())
    assert await read(store, lambda unit: unit.drafts.get(drafts[0].draft_id)) == left
    assert await read(store, lambda unit: unit.drafts.of_scopes([BOT_SCOPE])) == drafts[1:]
    assert await read(store, lambda unit: unit.drafts.of_scopes([BOT_SCOPE]), BOB) == drafts
    await write(store, lambda unit: unit.drafts.forget_ended(later(1)))
    with pytest.raises(NotFound):
        await read(store, lambda unit: unit.drafts.get(drafts[0].draft_id))
    assert await read(store, lambda unit: unit.drafts.get(drafts[1].draft_id)) == drafts[1]
