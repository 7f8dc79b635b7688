"""What the REST door takes in: strict forms, in which an unknown field is an error."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt, ValidationInfo

from souvenance.domain.bot import Preset
from souvenance.domain.conversation import Channel, Flags
from souvenance.domain.ids import known_shape
from souvenance.domain.limits import Level
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope, ScopeKind
from souvenance.errors import BadValue, UnusableText

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def _storable(text: str, info: ValidationInfo) -> str:
    found = _UNSTORABLE.search(text)
    if found:
        what = "a NUL character" if found.group() == "\0" else f"half of a surrogate pair (U+{ord(found.group()):04X})"
        raise UnusableText(info.field_name or "text", problem=f"{what} at position {found.start()}")
    return text


Text = Annotated[str, AfterValidator(_storable)]
"""Text that both databases can hold; how long it may be is the app's to say."""

Cursor = Annotated[str | None, Query(description="`next` of the page before; none for the first page")]
Limit = Annotated[int | None, Query(description="items of a page; GET /limits says the default and the most")]


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewBotForm(Form):
    name: Text
    preset: Preset = Preset.COMPANION
    system_prompt: Text = ""
    model: Text | None = None
    settings: dict[Text, StrictBool | Text] = Field(default_factory=dict)


class BotChanges(Form):
    """Fields that are left out stay as they are; `seen` is the version that the edit was made on."""

    seen: StrictInt | None = None
    name: Text | None = None
    system_prompt: Text | None = None
    model: Text | None = None
    settings: dict[Text, StrictBool | Text] | None = None


class LevelForm(Form):
    level: Level


class NewPersonaForm(Form):
    name: Text
    description: Text = ""


class PersonaChanges(Form):
    seen: StrictInt
    name: Text | None = None
    description: Text | None = None


class FlagsForm(Form):
    """What a caller may say of a conversation."""

    challenge: StrictBool = False
    temporary: Annotated[StrictBool, Field(description="refused: POST /temporary-turns instead (O4)")] = False
    anonymous: Annotated[StrictBool, Field(description="refused: POST /temporary-turns instead (O4)")] = False

    def value(self) -> Flags:
        return Flags(challenge=self.challenge, temporary=self.temporary, anonymous=self.anonymous)


class NewConversationForm(Form):
    """`bot` is a bot's name or id; without it the conversation is with a bare upstream `model` (I3). `members` are
    further members of a group, after the bot (M7).
    """

    bot: Text | None = None
    members: list[Text] = Field(default_factory=list)
    model: Text | None = None
    persona_id: Text | None = None
    channel: Annotated[Channel, Field(description="`web` or `api`")] = Channel.API
    flags: FlagsForm = FlagsForm()
    time_zone: Text = ""
    title: Text = ""


class TurnForm(Form):
    """A user message; the answer is a stream of events, or one JSON object with `stream: false`.

    In a group `speakers` are those who answer, in this order, by name or id; the first member when nobody is named.
    """

    text: Text
    speakers: list[Text] = Field(default_factory=list)
    replaces: Annotated[Text | None, Field(description="a turn that goes with all after it (T7)")] = None
    idempotency_key: Text = ""
    time_zone: Text = ""
    model: Text | None = None
    stream: StrictBool = True


class AgainForm(Form):
    """`part` says which reply of a group's turn; the last when it is left out."""

    part: StrictInt | None = None
    model: Text | None = None
    stream: StrictBool = True


class ChoiceForm(Form):
    """One variant of one reply, as the turn's messages name them."""

    part: StrictInt = 1
    variant: StrictInt


class AnswersForm(Form):
    """Who is to answer the last message too; nobody named: the member after the one that spoke last."""

    speakers: list[Text] = Field(default_factory=list)
    model: Text | None = None
    stream: StrictBool = True


class FirstTurnForm(TurnForm):
    """A user message that opens a conversation; `bot` is a bot's name or id, `members` further members of a group."""

    bot: Text | None = None
    members: list[Text] = Field(default_factory=list)
    persona_id: Text | None = None
    flags: FlagsForm = FlagsForm()
    title: Text = ""


class NewMemoryForm(Form):
    """`key` names a notebook's entry; one that is there is replaced only with `overwrite`."""

    text: Text
    scope: Text = "account"
    key: Text | None = None
    subject: Text = ""
    pinned: StrictBool = False
    overwrite: StrictBool = False


class MemoryChanges(Form):
    """`seen` is the version that the edit was made on: an edit of an older one gets both texts back (M10)."""

    seen: StrictInt
    text: Text | None = None
    key: Text | None = None
    subject: Text | None = None


class PinForm(Form):
    pinned: StrictBool


class ArchiveForm(Form):
    archived: StrictBool


class BringBackForm(Form):
    place: StrictInt


class EraseForm(Form):
    ids: list[Text]


class QueryForm(Form):
    text: Text
    scopes: list[Text] | None = None
    messages: StrictBool = False
    limit: StrictInt | None = None


def parse_scope(field: str, key: str) -> Scope:
    """`account`, `bot:<id>` or `conversation:<id>`; NotFound for what could be no such id."""
    kind, colon, ref = key.partition(":")
    if key == ScopeKind.ACCOUNT:
        return ACCOUNT_SCOPE
    if kind == ScopeKind.BOT and colon:
        return Scope(kind=ScopeKind.BOT, ref=known_shape("bot", ref))
    if kind == ScopeKind.CONVERSATION and colon:
        return Scope(kind=ScopeKind.CONVERSATION, ref=known_shape("conversation", ref))
    raise BadValue(field, value=key, expected="account, bot:<id> or conversation:<id>")
