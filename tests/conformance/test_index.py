"""The text index on both databases: what is found, by whom, and who chooses the candidates (HOUSE 11, Q1)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from souvenance.domain.ids import BotId, ConversationId, MemoryId
from souvenance.domain.memory import ACCOUNT_SCOPE, MemoryState, Scope
from souvenance.domain.recall import rank
from souvenance.ports.memories import ChatsWith, Found, Kind
from souvenance.ports.store import Store, Unit
from souvenance.storage.index import CANDIDATES, CHOOSING, rarest
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import index_items, postings
from tests.conformance.facts import BOT_SCOPE, converse, keep, memory, read, say, write
from tests.conformance.rows import ALICE, BOB, conversation

CHAT = ConversationId("con_1")


def tell(unit: Unit, position: int, *terms: str, conversation_id: str = CHAT, chosen: bool = True) -> str:
    """Store and index one message of these terms."""
    item = say(unit, position, conversation_id=conversation_id, chosen=chosen)
    unit.index.put(Kind.MESSAGE, item, terms)
    return item


def find(
    unit: Unit,
    *terms: str,
    within: str | None = None,
    leave_out: str | None = None,
    leave_out_from: int = 0,
    chats: ChatsWith | None = None,
) -> Found:
    return unit.index.find_messages(
        terms,
        conversation_id=None if within is None else ConversationId(within),
        leave_out=None if leave_out is None else ConversationId(leave_out),
        leave_out_from=leave_out_from,
        chats=chats,
    )


def items(found: Found) -> set[str]:
    return {posting.item for posting in found.postings}


async def test_postings_come_with_what_ranking_needs(store: Store) -> None:
    def fill(unit: Unit) -> Found:
        keep(unit, memory(1, "tea tea ilse"))
        keep(unit, memory(2, "tea"))
        keep(unit, memory(3, "coffee and cake and rum"))
        return unit.index.find_memories(["ilse", "tea", "rain", "tea"], scopes=[ACCOUNT_SCOPE])

    found = await write(store, fill)
    ilse, tea, rain = found.terms
    assert {tuple(posting) for posting in found.postings} == {
        (ilse, "mem_00001", 1, 3),
        (tea, "mem_00001", 2, 3),
        (tea, "mem_00002", 1, 1),
    }
    assert len({ilse, tea, rain}) == 3
    assert (found.frequencies, found.items, found.mean_length) == ((1, 2, 0), 3, 3.0)


async def test_ranking_what_was_found_puts_the_best_first(store: Store) -> None:
    def fill(unit: Unit) -> list[str]:
        for number, text in enumerate(["tea", "tea ilse", "ilse likes tea tea", "rain"], start=1):
            keep(unit, memory(number, text))
        found = unit.index.find_memories(["tea", "ilse"], scopes=[ACCOUNT_SCOPE])
        return [
            one.item
            for one in rank(
                found.postings,
                terms=found.terms,
                frequencies=found.frequencies,
                items=found.items,
                mean_length=found.mean_length,
            )
        ]

    assert await write(store, fill) == ["mem_00003", "mem_00002", "mem_00001"]


async def test_putting_an_item_again_replaces_its_terms(store: Store) -> None:
    def change(unit: Unit) -> tuple[Found, Found]:
        for _ in range(2):
            keep(unit, memory(1, "likes tea"))
        unit.index.put(Kind.MEMORY, "mem_00001", ["likes", "green", "green", "coffee"])
        scopes = [ACCOUNT_SCOPE]
        return unit.index.find_memories(["tea"], scopes=scopes), unit.index.find_memories(["green"], scopes=scopes)

    before, after = await write(store, change)
    assert before.postings == ()
    assert [(one.frequency, one.length) for one in after.postings] == [(2, 4)]
    assert (after.items, after.mean_length) == (1, 4.0)


async def test_what_was_removed_counts_no_more(store: Store) -> None:
    def remove(unit: Unit) -> Found:
        keep(unit, memory(1, "likes tea"))
        keep(unit, memory(2, "tea"))
        unit.index.remove(Kind.MEMORY, "mem_00001")
        unit.index.remove(Kind.MEMORY, "mem_00001")
        unit.index.put(Kind.MEMORY, "mem_00002", [])
        return unit.index.find_memories(["tea"], scopes=[ACCOUNT_SCOPE])

    found = await write(store, remove)
    assert (found.postings, found.frequencies, found.items, found.mean_length) == ((), (0,), 0, 0.0)


def numbered(unit: Unit) -> tuple[dict[str, int], list[int]]:
    """The numbers of the items held, and the numbers that postings name, as the tables have them."""
    repository = unit.index
    assert isinstance(repository, Repository)
    held = repository._rows(select(index_items.c.item, index_items.c.number).where(owned(index_items)))
    named = repository._rows(select(postings.c.number).where(owned(postings)).order_by(postings.c.number))
    return {row.item: row.number for row in held}, [row.number for row in named]


async def test_an_item_put_again_keeps_its_number_and_a_removed_ones_is_never_given_again(store: Store) -> None:
    def change(unit: Unit) -> None:
        unit.index.put_new(Kind.MESSAGE, {"msg_1": ["tea"], "msg_2": [], "msg_3": ["tea", "rum"]})
        unit.index.put(Kind.MESSAGE, "msg_1", ["milk", "milk", "rum"])
        unit.index.remove(Kind.MESSAGE, "msg_3")
        unit.index.put(Kind.MESSAGE, "msg_4", ["tea"])

    await write(store, change)
    assert await read(store, numbered) == ({"msg_1": 1, "msg_4": 3}, [1, 1, 3])
    asked = ["msg_1", "msg_2", "msg_3", "msg_4"]
    assert await read(store, lambda unit: unit.index.missing(Kind.MESSAGE, asked)) == {"msg_2", "msg_3"}


async def test_a_query_without_terms_finds_nothing(store: Store) -> None:
    await write(store, lambda unit: keep(unit, memory(1, "tea")))
    found = await read(store, lambda unit: unit.index.find_memories([], scopes=[ACCOUNT_SCOPE]))
    assert (found.postings, found.terms, found.items) == ((), (), 1)


async def test_memories_are_found_in_their_scopes_while_they_live(store: Store) -> None:
    def fill(unit: Unit) -> None:
        keep(unit, memory(1, "tea one"))
        keep(unit, memory(2, "tea two", archived=True))
        keep(unit, memory(3, "tea three", scope=BOT_SCOPE))
        for number, state in enumerate((MemoryState.DELETED, MemoryState.ERASING, MemoryState.SHADOWED), start=4):
            keep(unit, memory(number, f"tea {number}", state=state))

    await write(store, fill)

    def found_in(unit: Unit, *scopes: Scope) -> set[str]:
        return items(unit.index.find_memories(["tea"], scopes=scopes))

    assert await read(store, lambda unit: found_in(unit, ACCOUNT_SCOPE)) == {"mem_00001", "mem_00002"}
    assert await read(store, lambda unit: found_in(unit, BOT_SCOPE)) == {"mem_00003"}
    assert len(await read(store, lambda unit: found_in(unit, BOT_SCOPE, ACCOUNT_SCOPE))) == 3
    assert await read(store, found_in) == set()
    assert await read(store, lambda unit: found_in(unit, ACCOUNT_SCOPE), BOB) == set()


async def test_terms_of_another_owner_weigh_nothing_and_hash_otherwise(store: Store) -> None:
    for owner, texts in ((ALICE, ["tea"]), (BOB, ["tea and rum", "tea at night", "rum"])):
        for number, text in enumerate(texts, start=1):
            await write(store, partial(keep, wanted=memory(number, text)), owner)
    alice, bob = [
        await read(store, lambda unit: unit.index.find_memories(["tea"], scopes=[ACCOUNT_SCOPE]), owner)
        for owner in (ALICE, BOB)
    ]
    assert (alice.items, alice.mean_length, alice.frequencies) == (1, 1.0, (1,))
    assert alice.terms != bob.terms


async def test_only_chosen_messages_are_found(store: Store) -> None:
    def fill(unit: Unit) -> Found:
        converse(unit)
        tell(unit, 0, "tea")
        tell(unit, 1, "tea", chosen=False)
        unit.index.put(Kind.MESSAGE, "msg_gone", ["tea"])
        unit.index.put(Kind.MEMORY, "mem_1", ["tea"])
        return find(unit, "tea")

    assert items(await write(store, fill)) == {"msg_1x00000x0x0"}


@pytest.mark.parametrize("flag", ["challenge", "anonymous", "temporary", "gateway"])
async def test_a_conversation_without_memory_is_found_from_itself_only(store: Store, flag: str) -> None:
    def fill(unit: Unit) -> list[str]:
        converse(unit)
        converse(unit, "con_2", **{flag: True})
        return [tell(unit, 0, "tea"), tell(unit, 0, "tea", conversation_id="con_2")]

    open_one, closed_one = await write(store, fill)
    assert items(await read(store, lambda unit: find(unit, "tea"))) == {open_one}
    assert items(await read(store, lambda unit: find(unit, "tea", within="con_1"))) == {open_one}
    assert items(await read(store, lambda unit: find(unit, "tea", within="con_2"))) == {closed_one}


async def test_the_live_window_can_be_left_out(store: Store) -> None:
    def fill(unit: Unit) -> None:
        for chat in ("con_1", "con_2"):
            converse(unit, chat)
            for position in range(4):
                tell(unit, position, "tea", conversation_id=chat)

    await write(store, fill)
    found = await read(store, lambda unit: find(unit, "tea", leave_out="con_1", leave_out_from=1))
    assert items(found) == {"msg_1x00000x0x0"} | {f"msg_2x0000{position}x0x0" for position in range(4)}
    within = await read(store, lambda unit: find(unit, "tea", within="con_1", leave_out="con_1", leave_out_from=3))
    assert len(items(within)) == 3


async def test_messages_are_found_among_the_chats_of_one_bot_or_of_bare_models(store: Store) -> None:
    bots = {"con_1": "bot_1", "con_2": "bot_2", "con_3": None}

    def fill(unit: Unit) -> list[set[str]]:
        for number, (conversation_id, bot_id) in enumerate(bots.items()):
            unit.conversations.put(conversation(conversation_id, bot_id=bot_id))
            tell(unit, number, "tea", conversation_id=conversation_id)
        asked = [None, ChatsWith(bot_id=BotId("bot_1")), ChatsWith(bot_id=BotId("bot_9")), ChatsWith(bot_id=None)]
        return [{item[4] for item in items(find(unit, "tea", chats=chats))} for chats in asked]

    assert await write(store, fill) == [{"1", "2", "3"}, {"1"}, set(), {"3"}]


async def test_the_messages_of_another_owner_are_not_found(store: Store) -> None:
    for owner in (ALICE, BOB):
        await write(store, partial(converse), owner)
    await write(store, lambda unit: tell(unit, 0, "tea"), BOB)
    assert (await read(store, lambda unit: find(unit, "tea"))).postings == ()


async def test_rare_terms_choose_the_candidates_and_common_ones_only_weigh_in(store: Store) -> None:
    crowd = CANDIDATES + 50

    def fill(unit: Unit) -> None:
        converse(unit)
        for position in range(crowd):
            tell(unit, position, "tea", *(["ilse"] if position in {3, 700} else []))

    await write(store, fill)
    found = await read(store, lambda unit: find(unit, "tea", "ilse"))
    tea, ilse = found.terms
    assert {(one.term, one.item, one.length) for one in found.postings} == {
        (term, f"msg_1x{position:05}x0x0", 2) for term in (tea, ilse) for position in (3, 700)
    }
    assert (found.frequencies, found.items) == ((crowd, 2), crowd)
    common = await read(store, lambda unit: find(unit, "tea"))
    assert items(common) == {f"msg_1x{position:05}x0x0" for position in range(50, crowd)}


async def test_a_memory_that_moves_is_found_where_it_went(store: Store) -> None:
    def move(unit: Unit) -> tuple[set[str], set[str]]:
        kept = keep(unit, memory(1, "tea"))
        unit.memories.save(replace(kept, scope=BOT_SCOPE))
        return (
            items(unit.index.find_memories(["tea"], scopes=[ACCOUNT_SCOPE])),
            items(unit.index.find_memories(["tea"], scopes=[BOT_SCOPE])),
        )

    assert await write(store, move) == (set(), {MemoryId("mem_00001")})


async def test_a_query_of_very_many_terms_is_answered(store: Store) -> None:
    words = [f"word{number}" for number in range(1_200)]

    def fill(unit: Unit) -> Found:
        for number in range(3):
            keep(unit, memory(number, " ".join(words[number * 400 : number * 400 + 400])))
        return unit.index.find_memories(words, scopes=[ACCOUNT_SCOPE])

    found = await write(store, fill)
    assert found.frequencies == (1,) * 1_200
    assert items(found)


@given(st.dictionaries(st.integers(), st.integers(1, 3 * CANDIDATES), max_size=50))
def test_the_rarest_terms_choose_and_together_stand_in_few_enough_items(frequencies: dict[int, int]) -> None:
    chosen = rarest(frequencies)
    others = frequencies.keys() - set(chosen)
    assert bool(chosen) is bool(frequencies)
    assert len(chosen) <= CHOOSING
    assert len(chosen) <= 1 or sum(frequencies[term] for term in chosen) <= CANDIDATES
    assert all(frequencies[term] <= frequencies[other] for term in chosen for other in others)
