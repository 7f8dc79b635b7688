"""What is there stands in the way: it is missing, has moved, has no room, or a rule says no."""

from __future__ import annotations

from datetime import datetime

from souvenance.errors.root import SouvenanceError


class NotFound(SouvenanceError):
    """There is no such thing, or it belongs to somebody else: nobody can tell which."""

    code = "not_found"

    def __init__(self, kind: str, identity: str) -> None:
        shown = identity if len(identity) <= 60 else identity[:57] + "…"
        super().__init__(f"There is no {kind} {shown!r}.", kind=kind, id=shown)


class Conflict(SouvenanceError):
    """The world has moved since the caller looked, or has no room."""

    code = "conflict"


class StaleEdit(Conflict):
    """Somebody changed it since it was read: both texts come back, nothing was changed."""

    code = "stale_edit"

    def __init__(self, kind: str, identity: str, *, seen: int, current: int, theirs: str, yours: str) -> None:
        super().__init__(
            f"{kind} {identity} is at version {current}, the edit was made on version {seen}. Nothing was changed.",
            kind=kind,
            id=identity,
            seen=seen,
            current=current,
            theirs=theirs,
            yours=yours,
        )


class KeyTaken(Conflict):
    """A notebook has this key already, with another value."""

    code = "key_taken"

    def __init__(self, key: str) -> None:
        super().__init__(f"The key {key!r} is already in this bot's memory.", field="key", key=key)


class NameTaken(Conflict):
    """A bot of this name exists."""

    code = "name_taken"

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"There is already a {kind} named {name!r}.", field="name", kind=kind, name=name)


class PinRoomFull(Conflict):
    """As many memories of the scope are pinned as may be (M2)."""

    code = "pin_room_full"

    def __init__(self, scope: str, *, pinned: int, limit: int) -> None:
        super().__init__(
            f"{pinned} memories of {scope} are pinned; the limit is {limit}. Unpin one first.",
            scope=scope,
            pinned=pinned,
            limit=limit,
        )


class RequestKeyUsed(Conflict):
    """An idempotency key stands for one message; it was used for another one."""

    code = "request_key_used"

    def __init__(self, key: str) -> None:
        shown = key if len(key) <= 60 else key[:57] + "…"
        super().__init__(
            f"The idempotency key {shown!r} was used for another message. Nothing was stored; use a new key.",
            field="idempotency_key",
        )


class TurnSuperseded(Conflict):
    """Another attempt took over this turn; this one's reply was not stored."""

    code = "turn_superseded"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} was answered, changed or removed by another request meanwhile.", turn_id=turn_id
        )


class NotLastTurn(Conflict):
    """Only the last turn of a conversation is asked again or gone on with (T1, T6)."""

    code = "not_last_turn"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} is not the last of its conversation: its reply stays as it is. Rewind to it first.",
            turn_id=turn_id,
        )


class NothingToAnswer(Conflict):
    """The turn's user message is gone, or never was (T7)."""

    code = "nothing_to_answer"

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"Turn {turn_id} has no message of the user: there is nothing to answer.", turn_id=turn_id)


class NothingToContinue(Conflict):
    """The reply was not cut off (T6)."""

    code = "nothing_to_continue"

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} has no reply that was cut off: there is nothing to go on with.", turn_id=turn_id
        )


class LeaseLost(Conflict):
    """Another worker has taken this piece of background work over; what this one did is not kept."""

    code = "lease_lost"

    def __init__(self, kind: str, subject: str) -> None:
        super().__init__(
            f"Another worker has taken over {kind} of {subject}. What this one did was not kept.",
            kind=kind,
            subject=subject,
        )


class ConversationBusy(Conflict):
    """A reply is being written in this conversation; what was said there changes only when none is."""

    code = "conversation_busy"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"A reply is being written in conversation {conversation_id}. Nothing was changed; stop the reply or try "
            "again when it has ended.",
            conversation_id=conversation_id,
        )


class OfferExpired(Conflict):
    """The time in which an erasure can be undone is over (M14)."""

    code = "offer_expired"

    def __init__(self, erasure_id: str) -> None:
        super().__init__(
            f"The offer to undo erasure {erasure_id} has ended: what was erased is gone.", erasure_id=erasure_id
        )


class DraftExpired(Conflict):
    """A draft was neither saved nor discarded in time (V10)."""

    code = "draft_expired"

    def __init__(self, draft_id: str, *, until: str) -> None:
        super().__init__(
            f"Draft {draft_id} expired at {until}: it can no longer be read or saved.", draft_id=draft_id, until=until
        )


class BotGone(Conflict):
    """The bot that should answer was deleted; what was said with it stays readable (M8)."""

    code = "bot_gone"

    def __init__(self, bot_id: str) -> None:
        super().__init__(
            f"Bot {bot_id} was deleted and cannot answer any more; the conversation stays readable. "
            "Begin another one with another bot.",
            bot_id=bot_id,
        )


class Refused(SouvenanceError):
    """A rule says no."""

    code = "refused"


class MemoryIsOff(Refused):
    """Section 6: memory is off in this conversation."""

    code = "memory_is_off"

    def __init__(self, verb: str, reason: str) -> None:
        super().__init__(f"{verb} is refused here: {reason}.", verb=verb, reason=reason)


class PinnedMemory(Refused):
    """Only a person changes what is pinned (M5)."""

    code = "pinned_memory"

    def __init__(self, identity: str) -> None:
        super().__init__(f"{identity} is pinned: a person must unpin it first.", id=identity)


class LevelFixed(Refused):
    """The level of detail cannot be chosen here (W2)."""

    code = "level_fixed"

    def __init__(self, conversation_id: str, level: str) -> None:
        super().__init__(
            f"Conversation {conversation_id} always keeps {level}: it is on a channel, or with a bare model, that has "
            "no level of its own.",
            conversation_id=conversation_id,
            level=level,
        )


class SpendCapReached(Refused):
    """Background work has spent what it may in this hour; it goes on in the next (C4)."""

    code = "spend_cap"

    def __init__(self, *, spent: int, limit: int, until: datetime) -> None:
        super().__init__(
            f"Background work has spent {spent} tokens in this hour; the limit is {limit}. "
            f"It goes on at {until.isoformat()}.",
            spent=spent,
            limit=limit,
            until=until.isoformat(),
        )
        self.until = until
