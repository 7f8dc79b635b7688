"""What the journal keeps of an intent is the intent, for any text (M11, M12); anything else is refused."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.ids import ConversationId, MessageId
from souvenance.domain.journal import (
    Add,
    Archive,
    Content,
    Delete,
    Intent,
    Move,
    Pin,
    Restore,
    Unpin,
    Update,
    content_of,
)
from souvenance.domain.memory import ACCOUNT_SCOPE, ORGANISATION_SCOPE, Evidence, Origin, Scope
from souvenance.errors import StoreError
from souvenance.storage.intents import COLUMNS, intent_of, stored_of

_IDS = st.from_regex(r"[a-z]{3}_[a-z0-9]{1,8}", fullmatch=True)
_MOMENTS = st.datetimes(timezones=st.timezones())
_EVIDENCE = st.builds(
    Evidence,
    at=_MOMENTS,
    conversation_id=st.none() | _IDS.map(ConversationId),
    message_id=st.none() | _IDS.map(MessageId),
)
_CONTENTS = st.builds(
    Content,
    text=st.text(),
    key=st.none() | st.text(),
    subject=st.text(),
    confidence=st.floats(0, 1),
    origin=st.sampled_from(Origin),
    language=st.text(max_size=3),
    sensitive=st.booleans(),
    evidence=st.lists(_EVIDENCE, max_size=3).map(tuple),
)
_SCOPES = st.sampled_from([ACCOUNT_SCOPE, ORGANISATION_SCOPE, *map(Scope.parse, ("bot:bot_1", "conversation:con_1"))])
_INTENTS: st.SearchStrategy[Intent] = st.one_of(
    st.builds(Add, content=_CONTENTS),
    st.builds(Update, content=_CONTENTS),
    st.builds(Pin, content=_CONTENTS),
    st.builds(Move, scope=_SCOPES),
    st.sampled_from([Unpin(), Archive(), Restore(), Delete()]),
)


@given(_INTENTS)
def test_an_intent_reads_back_as_it_was_written(intent: Intent) -> None:
    content = content_of(intent)
    assert intent_of(_columns(intent), () if content is None else content.evidence) == intent


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": None},
        {"origin": "rumour"},
        {"origin": None},
        {"intent": "delete"},
        {"intent": "move"},
        {"intent": "shred"},
        {"intent": "shred", "text": None},
        *({"intent": "move", "text": None, "moved_to": into} for into in (None, "", "cellar", "bot", "account:bot_1")),
    ],
)
def test_what_no_intent_is_written_as_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(StoreError):
        intent_of(_columns(Add(content=Content(text="Likes tea")), wrong))


def _columns(intent: Intent, other: Mapping[str, object] = MappingProxyType({})) -> list[object]:
    stored = {**stored_of(intent), **other}
    return [stored[name] for name in COLUMNS]
