"""A memory is the fold, in order, of its operations that are not revoked (M11, T1, M5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from souvenance.domain.ids import ConversationId, MemoryId, MessageId
from souvenance.domain.journal import (
    Actor,
    Add,
    Anchor,
    Archive,
    Content,
    Delete,
    Intent,
    Move,
    Operation,
    Pin,
    Restore,
    Unpin,
    Update,
    copied_to,
    drawn_only_from,
    fold,
    standing_evidence,
)
from souvenance.domain.memory import ACCOUNT_SCOPE, Evidence, Memory, MemoryState, Origin, Scope

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
BOT = Scope.parse("bot:bot_1")


def moment(place: int) -> datetime:
    return START + timedelta(minutes=place)


def source(message: str) -> Evidence:
    return Evidence(at=START, message_id=MessageId(message))


def said(text: str, *sources: str, key: str | None = None, confidence: float = 0.9) -> Content:
    return Content(
        text=text, key=key, confidence=confidence, origin=Origin.MODEL, evidence=tuple(source(one) for one in sources)
    )


def history(*intents: Intent, revoked: tuple[int, ...] = ()) -> list[Operation]:
    """Operations of one memory at places 1, 2, …; those at `revoked` do not stand."""
    return [
        Operation(
            place=place,
            memory_id=MemoryId("mem_1"),
            scope=BOT,
            actor=Actor.MODEL,
            intent=intent,
            at=moment(place),
            revoked=place in revoked,
        )
        for place, intent in enumerate(intents, start=1)
    ]


def made(*intents: Intent, revoked: tuple[int, ...] = ()) -> Memory:
    memory = fold(history(*intents, revoked=revoked))
    assert memory is not None
    return memory


def test_nothing_stands_when_everything_is_revoked() -> None:
    assert fold(history(Add(content=said("Likes tea")), revoked=(1,))) is None
    assert fold([]) is None


def test_an_addition_makes_a_live_memory_at_its_place() -> None:
    assert made(Add(content=said("Likes tea", "msg_1"))) == Memory(
        memory_id=MemoryId("mem_1"),
        scope=BOT,
        text="Likes tea",
        confidence=0.9,
        origin=Origin.MODEL,
        created_at=moment(1),
        updated_at=moment(1),
        place=1,
        updated_place=1,
    )


def test_an_update_stands_when_the_addition_before_it_is_revoked() -> None:
    memory = made(Add(content=said("Likes tea")), Update(content=said("Likes green tea")), revoked=(1,))
    assert (memory.text, memory.state, memory.place) == ("Likes green tea", MemoryState.LIVE, 2)


def test_the_first_text_is_back_when_the_update_is_revoked() -> None:
    memory = made(Add(content=said("Likes tea")), Update(content=said("Likes green tea")), revoked=(2,))
    assert (memory.text, memory.updated_at, memory.updated_place) == ("Likes tea", moment(1), 1)


def test_a_pin_keeps_the_text_that_it_protects_when_that_is_revoked() -> None:
    memory = made(
        Add(content=said("Likes tea")),
        Update(content=said("Likes green tea")),
        Pin(content=said("Likes green tea")),
        revoked=(1, 2),
    )
    assert (memory.text, memory.pinned, memory.state) == ("Likes green tea", True, MemoryState.LIVE)


def test_pinning_is_no_update() -> None:
    memory = made(Add(content=said("Likes tea")), Pin(content=said("Likes tea")))
    assert (memory.updated_at, memory.updated_place) == (moment(1), 1)


def test_a_pin_protects_the_text_when_only_the_update_before_it_is_revoked() -> None:
    pinned = Pin(content=said("Likes green tea"))
    memory = made(Add(content=said("Likes tea")), Update(content=said("Likes green tea")), pinned, revoked=(2,))
    assert (memory.text, memory.place) == ("Likes green tea", 1)


def test_unpinning_counts_as_an_update() -> None:
    memory = made(Add(content=said("Likes tea")), Pin(content=said("Likes tea")), Unpin())
    assert (memory.pinned, memory.updated_at, memory.updated_place) == (False, moment(3), 3)


def test_unpinning_brings_back_what_was_archived_by_hand_before() -> None:
    memory = made(Add(content=said("Likes tea")), Archive(), Pin(content=said("Likes tea")), Unpin())
    assert (memory.pinned, memory.archived) == (False, False)


def test_a_deleted_memory_keeps_its_text_for_its_history() -> None:
    memory = made(Add(content=said("Likes tea")), Delete())
    assert (memory.text, memory.state) == ("Likes tea", MemoryState.DELETED)


def test_a_deletion_undone_brings_the_memory_back_as_it_was() -> None:
    added = Add(content=said("Likes tea"))
    assert made(added, Delete(), revoked=(2,)) == made(added)


def test_a_memory_said_again_after_its_deletion_keeps_its_first_place_only() -> None:
    memory = made(Add(content=said("Likes tea", "msg_1")), Delete(), Add(content=said("Likes tea", "msg_2")))
    assert (memory.state, memory.place, memory.created_at) == (MemoryState.LIVE, 1, moment(1))
    assert memory.updated_place == 3


def test_saying_it_again_keeps_the_highest_confidence_and_counts_as_an_update() -> None:
    again = Content(
        text="likes tea", confidence=0.99, origin=Origin.EXPLICIT, evidence=(source("msg_1"), source("msg_2"))
    )
    memory = made(Add(content=said("Likes tea", "msg_1")), Add(content=again))
    assert (memory.text, memory.confidence, memory.origin) == ("Likes tea", 0.99, Origin.EXPLICIT)
    assert (memory.updated_at, memory.updated_place) == (moment(2), 2)


def test_the_sources_of_what_stands_count_each_once() -> None:
    said_thrice = (
        Add(content=said("Likes tea", "msg_1", "msg_2")),
        Archive(),
        Add(content=said("Likes tea", "msg_2", "msg_3")),
        Update(content=said("Likes green tea", "msg_4")),
    )
    every = tuple(source(f"msg_{number}") for number in (1, 2, 3, 4))
    assert standing_evidence(history(*said_thrice)) == every
    assert standing_evidence(history(*said_thrice, revoked=(1,))) == every[1:]
    assert standing_evidence(history(*said_thrice, revoked=(3, 4))) == every[:2]


def test_an_addition_to_a_key_gives_it_the_new_value_at_its_place() -> None:
    memory = made(Add(content=said("Alice", key="name")), Add(content=said("Bob", key="name")))
    assert (memory.key, memory.text, memory.place, memory.updated_at) == ("name", "Bob", 1, moment(2))


def test_a_key_has_its_old_value_back_when_the_new_one_is_revoked() -> None:
    memory = made(Add(content=said("Alice", key="name")), Add(content=said("Bob", key="name")), revoked=(2,))
    assert memory.text == "Alice"


def test_a_rename_keeps_the_place() -> None:
    memory = made(Add(content=said("Alice", key="name")), Update(content=said("Alice", key="user_name")))
    assert (memory.key, memory.place, memory.created_at) == ("user_name", 1, moment(1))


def test_archiving_hides_and_restoring_counts_as_an_update() -> None:
    archived = made(Add(content=said("Likes tea")), Archive())
    assert (archived.archived, archived.updated_at) == (True, moment(1))
    restored = made(Add(content=said("Likes tea")), Archive(), Restore())
    assert (restored.archived, restored.updated_at) == (False, moment(3))


def test_saying_it_again_brings_it_out_of_the_archive() -> None:
    assert not made(Add(content=said("Likes tea")), Archive(), Add(content=said("Likes tea"))).archived
    assert not made(Add(content=said("Likes tea")), Archive(), Update(content=said("Likes coffee"))).archived


def test_what_changes_a_memory_does_nothing_when_nothing_is_there() -> None:
    for intent in (Unpin(), Archive(), Restore(), Delete(), Move(scope=ACCOUNT_SCOPE)):
        assert fold(history(Add(content=said("Likes tea")), intent, revoked=(1,))) is None


def test_a_move_keeps_everything_but_the_scope() -> None:
    memory = made(Add(content=said("Likes tea")), Pin(content=said("Likes tea")), Move(scope=ACCOUNT_SCOPE))
    assert (memory.scope, memory.text, memory.pinned, memory.updated_at) == (
        ACCOUNT_SCOPE,
        "Likes tea",
        True,
        moment(1),
    )


def test_a_sensitive_memory_stays_sensitive_when_it_is_said_anew() -> None:
    secret = Content(text="PIN 1234", sensitive=True)
    assert made(Add(content=secret), Update(content=said("PIN 4321"))).sensitive


HERE, CHAT = ConversationId("cnv_1"), ConversationId("cnv_2")
ASKED, REPLY, OTHER = MessageId("msg_1"), MessageId("msg_2"), MessageId("msg_3")


def drawn(intent: Intent, *causes: Anchor, revoked: bool = False) -> Operation:
    (operation,) = history(intent)
    return replace(operation, causes=causes, revoked=revoked)


def test_d1_a_memory_is_drawn_only_from_messages_when_all_that_it_says_is() -> None:
    tea, pinned = Add(content=said("tea")), Pin(content=said("tea"))
    here = drawn(tea, Anchor(message=REPLY))
    assert drawn_only_from([here, drawn(Archive())], {REPLY})
    assert drawn_only_from([here, drawn(tea, revoked=True)], {REPLY})
    assert not drawn_only_from([here, drawn(pinned)], {REPLY})
    assert not drawn_only_from([here, drawn(tea, Anchor(message=OTHER), revoked=True)], {REPLY})
    assert not drawn_only_from([drawn(tea, Anchor(message=REPLY), Anchor(message=OTHER))], {REPLY})


def test_m1_a_copy_of_session_memory_hangs_on_what_its_branch_holds_and_there_only() -> None:
    wrote = drawn(
        Add(content=said("tea")),
        Anchor(message=REPLY, said=ASKED, held_in=HERE),
        Anchor(message=OTHER, held_in=HERE),
    )

    def copied(operation: Operation, **held: bool) -> Operation | None:
        return copied_to(operation, MemoryId("mem_2"), CHAT, {MessageId(one): chosen for one, chosen in held.items()})

    both = copied(wrote, msg_1=True, msg_2=True)
    assert both is not None
    assert (both.memory_id, both.scope, both.revoked) == (MemoryId("mem_2"), Scope.of_conversation(CHAT), False)
    assert both.causes == (Anchor(message=REPLY, said=ASKED, held_in=CHAT),)
    left = copied(wrote, msg_1=True, msg_2=False)
    assert left is not None
    assert left.revoked
    assert copied(wrote, msg_2=True) is None
    by_hand = copied(drawn(Pin(content=said("tea"))))
    assert by_hand is not None
    assert not by_hand.revoked
    assert copied(drawn(Add(content=said("tea")), revoked=True), msg_1=True) is None
