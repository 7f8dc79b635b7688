"""Conversations, turns and messages on both databases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from sqlalchemy import Select, text

from souvenance.domain.conversation import Channel, Flags, Message, MessageState, TurnState, WindowMessage
from souvenance.domain.ids import BotId, ConversationId, MessageId, OwnerId, PersonaId, TurnId
from souvenance.errors import NotFound
from souvenance.ports.store import Store
from souvenance.storage import messages as statements
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.conformance import rows
from tests.conformance.rows import ALICE, BOB, CHAT, each


async def put_messages(store: Store, owner_id: OwnerId, messages: Iterable[Message]) -> None:
    await store.write(owner_id, each(lambda unit: unit.messages.put, messages), label="message.stored")


async def test_a_conversation_reads_back_as_it_was_written(store: Store) -> None:
    chat = rows.conversation(
        bot_owner=OwnerId("own_firm"),
        members=(BotId("bot_1"), BotId("bot_2")),
        persona_id=PersonaId("per_1"),
        model="llama3",
        channel=Channel.TELEGRAM,
        flags=Flags(challenge=True, temporary=True),
        organisation_id=OwnerId("own_firm"),
        parent_id=ConversationId("con_0"),
        fork_position=4,
        title="Der Leuchtturm 灯台",
        time_zone="Europe/Paris",
        window_start=3,
        last_position=9,
        messages=17,
        waiting=2,
        client="key_1",
        client_ref="../../x",
        history_hash="ab" * 16,
        version=5,
    )
    await store.write(ALICE, lambda unit: unit.conversations.put(chat), label="conversation.opened")
    assert await store.read(ALICE, lambda unit: unit.conversations.get(CHAT), label="conversation.read") == chat
    assert await store.write(ALICE, lambda unit: unit.conversations.lock(CHAT), label="conversation.locked") == chat
    bare = rows.conversation("con_2", bot_id=None)
    await store.write(ALICE, lambda unit: unit.conversations.put(bare), label="conversation.opened")
    found = await store.read(
        ALICE, lambda unit: unit.conversations.get(bare.conversation_id), label="conversation.read"
    )
    assert found == bare


async def test_saving_a_conversation_counts_its_version_up(store: Store) -> None:
    chat = rows.conversation()
    await store.write(ALICE, lambda unit: unit.conversations.put(chat), label="conversation.opened")
    moved = replace(chat, window_start=2, last_position=3, messages=8)
    await store.write(ALICE, lambda unit: unit.conversations.save(moved), label="conversation.saved")
    found = await store.read(ALICE, lambda unit: unit.conversations.get(CHAT), label="conversation.read")
    assert found == replace(moved, version=2)
    with pytest.raises(NotFound):
        await store.write(BOB, lambda unit: unit.conversations.save(moved), label="conversation.saved")


async def test_a_conversation_is_found_by_the_name_its_key_gave_it(store: Store) -> None:
    named = rows.conversation("con_1", client="key_1", client_ref="my chat")
    unnamed = rows.conversation("con_2", client="key_1")
    unnamed_too = rows.conversation("con_3", client="key_1")
    await store.write(
        ALICE, each(lambda unit: unit.conversations.put, (named, unnamed, unnamed_too)), label="conversation.opened"
    )

    async def found(owner_id: OwnerId, client: str, ref: str) -> object:
        return await store.read(
            owner_id,
            lambda unit: unit.conversations.by_client_ref(client, ref, BotId("bot_1")),
            label="conversation.found",
        )

    assert await found(ALICE, "key_1", "my chat") == named
    held = await store.write(
        ALICE,
        lambda unit: unit.conversations.lock_by_client_ref("key_1", "my chat", BotId("bot_1")),
        label="conversation.held",
    )
    assert held == named
    assert await found(ALICE, "key_1", "My chat") is None
    assert await found(ALICE, "key_2", "my chat") is None
    assert await found(ALICE, "key_1", "") is None
    assert await found(BOB, "key_1", "my chat") is None
    other_bot = await store.read(
        ALICE,
        lambda unit: unit.conversations.by_client_ref("key_1", "my chat", BotId("bot_2")),
        label="conversation.found",
    )
    assert other_bot is None


async def test_equal_histories_of_several_conversations_show_as_two_newest_first(store: Store) -> None:
    chats = [rows.conversation(f"con_{n}", client="key_1", history_hash="aa") for n in range(3)]
    elsewhere = rows.conversation("con_9", client="key_2", history_hash="aa")
    await store.write(
        ALICE, each(lambda unit: unit.conversations.put, [*chats, elsewhere]), label="conversation.opened"
    )
    found = await store.read(
        ALICE, lambda unit: unit.conversations.by_history("key_1", "aa"), label="conversation.found"
    )
    assert found == [chats[2], chats[1]]


async def test_conversations_come_in_pages_newest_first_of_all_bots_or_of_one(store: Store) -> None:
    chats = [rows.conversation(f"con_{n}", bot_id=BotId(f"bot_{n % 2}")) for n in range(6)]
    for owner_id in (ALICE, BOB):
        await store.write(owner_id, each(lambda unit: unit.conversations.put, chats), label="conversation.opened")

    async def page(bot: str | None, before: str | None, limit: int) -> list[str]:
        found = await store.read(
            ALICE,
            lambda unit: unit.conversations.page(
                bot_id=None if bot is None else BotId(bot),
                before=None if before is None else ConversationId(before),
                limit=limit,
            ),
            label="conversation.listed",
        )
        return [chat.conversation_id for chat in found]

    assert await page(None, None, 3) == ["con_5", "con_4", "con_3"]
    assert await page(None, "con_3", 9) == ["con_2", "con_1", "con_0"]
    assert await page("bot_1", None, 2) == ["con_5", "con_3"]
    assert await page("bot_1", "con_3", 2) == ["con_1"]


async def test_a_turn_reads_back_as_it_was_written_and_changed(store: Store) -> None:
    turn = rows.turn(request_key="retry/1 é", request_hash="aa", opened_hash="bb", client="key_1")
    await store.write(ALICE, lambda unit: unit.turns.put(turn), label="turn.opened")
    assert await store.read(ALICE, lambda unit: unit.turns.get(turn.turn_id), label="turn.read") == turn
    whole = replace(turn, state=TurnState.WHOLE, attempt=2, acknowledged=True)
    await store.write(ALICE, lambda unit: unit.turns.save(whole), label="turn.whole")
    assert await store.read(ALICE, lambda unit: unit.turns.get(turn.turn_id), label="turn.read") == whole
    with pytest.raises(NotFound):
        await store.write(BOB, lambda unit: unit.turns.save(whole), label="turn.whole")


async def test_the_last_turn_and_the_one_an_idempotency_key_opened_are_found(store: Store) -> None:
    turns = [rows.turn(n, request_key=key) for n, key in enumerate(["", "first", "", "second"])]
    other_chat = rows.turn(0, "con_2", request_key="first")
    await store.write(ALICE, each(lambda unit: unit.turns.put, [*turns, other_chat]), label="turn.opened")

    last = await store.read(ALICE, lambda unit: unit.turns.last(CHAT), label="turn.read")
    first = await store.read(ALICE, lambda unit: unit.turns.by_request(CHAT, "first"), label="turn.read")
    none = await store.read(ALICE, lambda unit: unit.turns.by_request(CHAT, ""), label="turn.read")
    of_bob = await store.read(BOB, lambda unit: unit.turns.last(CHAT), label="turn.read")
    assert (last, first, none, of_bob) == (turns[3], turns[1], None, None)


async def test_unacknowledged_turns_are_the_last_of_their_conversation_and_of_this_key(store: Store) -> None:
    hashes = {"request_hash": "aa", "opened_hash": "bb", "client": "key_1"}
    wanted = [rows.turn(0, f"con_{n}", **hashes) for n in range(3)]
    others = [
        rows.turn(0, "con_3", **{**hashes, "client": "key_2"}),
        rows.turn(0, "con_4", acknowledged=True, **hashes),
        rows.turn(0, "con_5", **hashes),
        rows.turn(1, "con_5"),
        rows.turn(0, "con_6", client="key_1", request_hash="cc", opened_hash="dd"),
    ]
    await store.write(ALICE, each(lambda unit: unit.turns.put, [*wanted, *others]), label="turn.opened")
    await store.write(BOB, lambda unit: unit.turns.put(wanted[0]), label="turn.opened")

    by_bytes = await store.read(
        ALICE, lambda unit: unit.turns.unacknowledged("key_1", request_hash="aa"), label="turn.found"
    )
    by_history = await store.read(
        ALICE, lambda unit: unit.turns.unacknowledged("key_1", opened_hash="bb"), label="turn.found"
    )
    assert by_bytes == by_history == [wanted[2], wanted[1]]


async def test_a_message_reads_back_exactly_whatever_it_says(store: Store) -> None:
    said = "NUL \x00, quotes '\", فارسی, 日本語, \r\n\t, 🧡, " + "x" * 1_000_000
    message = rows.message(
        0,
        1,
        bot_id=BotId("bot_1"),
        text=said,
        state=MessageState.CUT_OFF,
        noted=2,
        model="llama3",
        time_zone="Asia/Tokyo",
        origin_id=MessageId("msg_0"),
    )
    await put_messages(store, ALICE, [message])
    assert await store.read(ALICE, lambda unit: unit.messages.get(message.message_id), label="message.read") == message


async def test_choosing_another_variant_changes_what_is_read(store: Store) -> None:
    first, second = rows.message(0, 1), rows.message(0, 1, variant=1, chosen=False)
    await put_messages(store, ALICE, [rows.message(0), first, second])
    await store.write(
        ALICE,
        each(lambda unit: unit.messages.save, (replace(first, chosen=False), replace(second, chosen=True))),
        label="variant.chosen",
    )
    window = await store.read(ALICE, lambda unit: unit.messages.from_position(CHAT, 0), label="window.read")
    every = await store.read(ALICE, lambda unit: unit.messages.of_turn(first.turn_id), label="turn.read")
    assert [m.message_id for m in window] == [rows.message(0).message_id, second.message_id]
    assert [(m.part, m.variant, m.chosen) for m in every] == [(0, 0, True), (1, 0, False), (1, 1, True)]


async def test_the_window_and_pages_hold_the_chosen_messages_of_one_conversation_of_one_owner(store: Store) -> None:
    chat = [rows.message(position, part) for position in range(4) for part in range(3)]
    rejected = [rows.message(position, 1, variant=1, chosen=False) for position in range(4)]
    other_chat = [rows.message(position, conversation_id="con_2") for position in range(4)]
    await put_messages(store, ALICE, [*reversed(chat), *rejected, *other_chat])
    await put_messages(store, BOB, [rows.message(position, text="Bob's") for position in range(6)])

    after = await store.read(ALICE, lambda unit: unit.messages.from_position(CHAT, 2), label="messages.read")
    window = await store.read(ALICE, lambda unit: unit.messages.window(CHAT, 2), label="window.read")
    sizes = await store.read(ALICE, lambda unit: unit.messages.sizes(CHAT, 10**6), label="sizes.read")
    everything = await store.read(ALICE, lambda unit: unit.messages.from_position(CHAT, 0), label="messages.read")
    assert sizes == [(message.position, message.tokens) for message in everything]
    newest = await store.read(ALICE, lambda unit: unit.messages.page(CHAT, before=None, limit=5), label="page.read")
    before = (newest[-1].position, newest[-1].part)
    older = await store.read(ALICE, lambda unit: unit.messages.page(CHAT, before=before, limit=99), label="page.read")
    assert after == chat[6:]
    assert window == [
        WindowMessage(
            message_id=m.message_id, position=m.position, role=m.role, bot_id=m.bot_id, text=m.text, tokens=m.tokens
        )
        for m in chat[6:]
    ]
    assert [*newest, *older] == chat[::-1]


async def test_many_messages_come_in_the_order_asked_for_and_missing_ids_are_named(store: Store) -> None:
    chat = [rows.message(position) for position in range(1_200)]
    await put_messages(store, ALICE, chat)
    ids = [message.message_id for message in reversed(chat)]
    unknown = MessageId("msg_unknown")
    found = await store.read(ALICE, lambda unit: unit.messages.many([unknown, *ids]), label="messages.read")
    missing = await store.read(ALICE, lambda unit: unit.messages.missing([*ids, unknown]), label="messages.read")
    of_bob = await store.read(BOB, lambda unit: unit.messages.missing(ids), label="messages.read")
    none = await store.read(ALICE, lambda unit: unit.messages.many([]), label="messages.read")
    assert (found, missing, of_bob, none) == (chat[::-1], {unknown}, set(ids), [])


async def test_messages_and_turns_of_another_owner_are_not_found(store: Store) -> None:
    await put_messages(store, ALICE, [rows.message()])
    await store.write(ALICE, lambda unit: unit.turns.put(rows.turn()), label="turn.opened")
    with pytest.raises(NotFound):
        await store.read(BOB, lambda unit: unit.messages.get(rows.message().message_id), label="message.read")
    with pytest.raises(NotFound):
        await store.write(BOB, lambda unit: unit.messages.save(rows.message(text="mine")), label="message.saved")
    with pytest.raises(NotFound):
        await store.read(BOB, lambda unit: unit.turns.get(TurnId("trn_1x00000")), label="turn.read")


# The planner chooses by what there is: in an empty table now this, now that, by when its statistics were gathered.
_LONG_CHAT = text(
    "INSERT INTO messages SELECT (jsonb_populate_record(m, jsonb_build_object("
    "'message_id', 'msg_' || n, 'turn_id', 'trn_' || n, 'origin_id', 'msg_' || n, 'position', n))).* "
    "FROM messages AS m, generate_series(1, 5000) AS n"
)

PLANNED = [
    pytest.param(statements.FROM_POSITION, {"start": 4_900}, id="window"),
    pytest.param(statements.NEWEST, {"limit": 50}, id="newest"),
    pytest.param(statements.OLDER, {"limit": 50, "at_position": 4_000, "at_part": 0}, id="older"),
]


@pytest.mark.parametrize(("statement", "values"), PLANNED)
async def test_the_window_is_read_from_the_primary_key_alone(
    bare_store: SqliteStore | PostgresStore, statement: Select[Message], values: dict[str, object]
) -> None:
    bound = statement.params(owner=ALICE, conversation=CHAT, **values)
    if isinstance(bare_store, SqliteStore):
        with bare_store.engine.connect() as connection:
            sql = bound.compile(connection, compile_kwargs={"literal_binds": True})
            plan = [row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {sql}"))]
        assert len(plan) == 1
        assert "USING PRIMARY KEY (owner_id=? AND conversation_id=?" in plan[0]
        assert ("position>?" in plan[0]) == ("start" in values)
        assert ("(position,part)<(?,?)" in plan[0]) == ("at_part" in values)
    else:
        await put_messages(bare_store, ALICE, [rows.message(0)])
        async with bare_store.engine.connect() as connection:
            await connection.execute(_LONG_CHAT)
            await connection.execute(text("ANALYZE messages"))
            await connection.execute(text("SET LOCAL enable_bitmapscan = off"))
            sql = bound.compile(bare_store.engine.sync_engine, compile_kwargs={"literal_binds": True})
            plan = [row[0].strip() for row in await connection.execute(text(f"EXPLAIN (COSTS OFF) {sql}"))]
        assert not [line for line in plan if "Sort" in line]
        assert [line for line in plan if "Scan" in line and "using messages_pkey" in line]
