"""What the journal keeps of an intent is the intent, for any text (M11, M12); anything else is refused."""

from __future__ import annotations

import json

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
from souvenance.storage.intents import intent_of, stored_of

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
    assert intent_of(*stored_of(intent), () if content is None else content.evidence) == intent


@given(_CONTENTS)
def test_an_intent_short_of_a_field_or_with_one_more_is_refused(content: Content) -> None:
    word, stored = stored_of(Add(content=content))
    assert stored is not None
    fields = json.loads(stored)
    for wrong in [*({k: v for k, v in fields.items() if k != name} for name in fields), {**fields, "more": 1}]:
        with pytest.raises(StoreError):
            intent_of(word, json.dumps(wrong))


@pytest.mark.parametrize(
    ("word", "stored"),
    [
        ("delete", "{}"),
        ("add", None),
        ("add", "not json"),
        ("add", "[]"),
        ("shred", "{}"),
        ("move", "{}"),
        ("move", '{"scope": "cellar"}'),
        ("move", '{"scope": "bot"}'),
        ("move", '{"scope": "account:bot_1"}'),
        ("move", '{"scope": "account", "more": 1}'),
    ],
)
def test_what_no_intent_is_written_as_is_refused(word: str, stored: str | None) -> None:
    with pytest.raises(StoreError):
        intent_of(word, stored)


@pytest.mark.parametrize(
    ("field", "value"),
    [("text", 1), ("key", 1), ("confidence", "high"), ("origin", "rumour"), ("sensitive", 1)],
)
def test_a_field_of_the_wrong_kind_is_refused(field: str, value: object) -> None:
    word, stored = stored_of(Add(content=Content(text="Likes tea")))
    assert stored is not None
    with pytest.raises(StoreError):
        intent_of(word, json.dumps({**json.loads(stored), field: value}))
