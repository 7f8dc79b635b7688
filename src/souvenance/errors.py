"""Everything that can go wrong, as one tree.

    SouvenanceError
    ├── InputError            the caller sent something that cannot be taken
    │   ├── EmptyText · TextTooLong · UnusableText · BadValue · TooMany
    ├── NotFound              no such thing for this owner (or it is somebody else's: the same answer)
    ├── Conflict              the world has moved, or has no room
    │   ├── StaleEdit · KeyTaken · NameTaken · PinRoomFull · RequestKeyUsed · TurnSuperseded · OfferExpired · DraftExpired
    │   ├── NotLastTurn · NothingToAnswer · NothingToContinue · ConversationBusy
    │   ├── BotGone
    ├── Refused               a rule says no (policy, pinned, credit)
    │   ├── MemoryIsOff · PinnedMemory
    ├── PromptTooLarge        what must be sent does not fit the model
    ├── ModelError            the model did not do its part
    │   ├── NoModel · UnknownModel · ModelUnreachable · ModelRefused · ModelTimedOut · ModelBroken · UnusableDrafts
    ├── StoreError            the store did not do its part
    │   ├── StoreUnavailable · StoreTooNew
    └── SettingError          the installation is not set up as it says
        └── PortBusy

Each class is one situation and writes its own message, with the ids and figures needed to act. HTTP statuses live in
one table in `server/problems.py`.
"""

from __future__ import annotations


class SouvenanceError(Exception):
    """Something that a caller can be told plainly; `details` are the figures behind the message."""

    code = "error"

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class InputError(SouvenanceError):
    """What was sent cannot be taken; `details["field"]` names the field."""

    code = "invalid_input"


class EmptyText(InputError):
    """A text without a visible character."""

    code = "empty_text"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is empty: write at least one visible character.", field=field)


class TextTooLong(InputError):
    """A text past its limit; both figures are told."""

    code = "text_too_long"

    def __init__(self, field: str, *, size: int, limit: int, unit: str = "characters") -> None:
        super().__init__(
            f"{field} has {size} {unit}; the limit is {limit}. Nothing was stored.",
            field=field,
            size=size,
            limit=limit,
            unit=unit,
        )


class UnusableText(InputError):
    """A text with a character that cannot be kept: NUL, half a surrogate pair, a line break in a name."""

    code = "unusable_text"

    def __init__(self, field: str, *, problem: str) -> None:
        super().__init__(f"{field} cannot be stored: it holds {problem}.", field=field, problem=problem)


class BadValue(InputError):
    """A value that this field does not take."""

    code = "bad_value"

    def __init__(self, field: str, *, value: object, expected: str) -> None:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        super().__init__(f"{field} is {shown}; expected {expected}.", field=field, expected=expected)


class TooMany(InputError):
    """A list past its limit; both figures are told."""

    code = "too_many"

    def __init__(self, field: str, *, size: int, limit: int) -> None:
        super().__init__(
            f"{field} has {size} items; the limit is {limit}. Nothing was stored.", field=field, size=size, limit=limit
        )


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
        super().__init__(f"{identity} is pinned: only its owner can change it.", id=identity)


class PromptTooLarge(SouvenanceError):
    """What must be sent does not fit the model (W5)."""

    code = "prompt_too_large"

    def __init__(self, *, needed: int, available: int, context: int) -> None:
        super().__init__(
            f"The message and the system prompt take about {needed} tokens; the model has room for {available} "
            f"(context {context}, less the reply's room). Nothing was stored.",
            needed=needed,
            available=available,
            context=context,
        )


class ModelError(SouvenanceError):
    """The model did not do its part."""

    code = "model_error"


class NoModel(ModelError):
    """There is no model to ask."""

    code = "no_model"

    def __init__(self) -> None:
        super().__init__(
            "No model is configured or running. Start Ollama, LM Studio, llama.cpp or vLLM, or set OPENAI_API_KEY; "
            "`souvenance doctor` says what was looked for."
        )


class UnknownModel(ModelError):
    """Neither a bot nor a model has this name."""

    code = "unknown_model"

    def __init__(self, name: str, *, known: tuple[str, ...] = ()) -> None:
        shown = name if len(name) <= 80 else name[:77] + "…"
        listed = ", ".join(known[:5]) or "none"
        super().__init__(f"There is no bot or model named {shown!r}. Known: {listed}.", model=shown)


class ModelUnreachable(ModelError):
    """No connection to the model."""

    code = "model_unreachable"

    def __init__(self, model: str, *, reason: str) -> None:
        super().__init__(f"{model} cannot be reached: {reason}.", model=model, reason=reason)


class ModelRefused(ModelError):
    """The upstream answered with an error of its own; `body` is what it said, byte for byte.

    `retry_after` is its header of that name as it came, "" for none.
    """

    code = "model_refused"

    def __init__(
        self, model: str, *, status: int, body: bytes, content_type: str = "application/json", retry_after: str = ""
    ) -> None:
        super().__init__(f"{model} answered with status {status}.", model=model, status=status)
        self.status = status
        self.body = body
        self.content_type = content_type
        self.retry_after = retry_after


class ModelTimedOut(ModelError):
    """The model said nothing for too long."""

    code = "model_timed_out"

    def __init__(self, model: str, *, seconds: float) -> None:
        super().__init__(f"{model} said nothing for {seconds:g} seconds.", model=model, seconds=seconds)


class ModelBroken(ModelError):
    """The upstream's answer was not what its interface promises, or ended in the middle."""

    code = "model_broken"

    def __init__(self, model: str, *, problem: str) -> None:
        super().__init__(f"{model} sent {problem}.", model=model, problem=problem)


class UnusableDrafts(ModelError):
    """A model was asked for drafts and, asked again, still gave none that can be used (V5, V6)."""

    code = "unusable_drafts"

    def __init__(self, model: str, *, reason: str, tokens_in: int, tokens_out: int) -> None:
        super().__init__(
            f"{model} was asked twice and gave no usable drafts: {reason} Nothing was stored.",
            model=model,
            reason=reason,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )


class StoreError(SouvenanceError):
    """The store did not do its part."""

    code = "store_error"


class StoreUnavailable(StoreError):
    """The database cannot be used: busy, full, broken or gone."""

    code = "store_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The store cannot be used right now: {reason}.", reason=reason)


class StoreTooNew(StoreError):
    """The database was written by a newer version."""

    code = "store_too_new"

    def __init__(self, place: str, *, found: str, known: str) -> None:
        super().__init__(
            f"{place} was written by a newer Souvenance (schema {found}; this one knows {known}). "
            "Install the newer version; nothing was touched.",
            found=found,
            known=known,
        )


class SettingError(SouvenanceError):
    """A setting that cannot be used; the message says how to mend it."""

    code = "setting_error"

    def __init__(self, setting: str, *, problem: str, mend: str) -> None:
        super().__init__(f"Setting {setting}: {problem}. {mend}", setting=setting, problem=problem, mend=mend)


class PortBusy(SettingError):
    """Something else listens on the port."""

    code = "port_busy"

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            "port",
            problem=f"something already listens on {host}:{port}",
            mend=f"Choose another with --port {port + 1}, or stop the other program",
        )
