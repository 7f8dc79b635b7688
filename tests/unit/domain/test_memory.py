"""Scopes as words (M1)."""

from __future__ import annotations

import pytest

from souvenance.domain.memory import Scope, ScopeKind
from souvenance.errors import BadValue


@pytest.mark.parametrize("key", ["account", "organisation", "bot:bot_1", "conversation:con_1"])
def test_a_scope_is_read_back_from_its_word(key: str) -> None:
    assert Scope.parse(key).key == key


def test_the_parts_of_a_scope_are_its_kind_and_its_ref() -> None:
    assert Scope.parse("bot:bot_1") == Scope(kind=ScopeKind.BOT, ref="bot_1")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "cellar",
        "Account",
        "account:",
        "account:own_1",
        "organisation:own_1",
        "bot",
        "bot:",
        "conversation",
        ":bot_1",
    ],
)
def test_a_word_that_names_no_scope_is_refused(key: str) -> None:
    with pytest.raises(BadValue) as caught:
        Scope.parse(key)
    assert caught.value.details["field"] == "scope"
