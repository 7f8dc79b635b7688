"""The bodies that change a conversation's line."""

from __future__ import annotations

from souvenance.server.forms import Form, Text


class RewindForm(Form):
    """The last turn that stays; with null none does."""

    after_turn: Text | None


class ForkForm(Form):
    """The last message that the new conversation holds."""

    message_id: Text


class MessageChanges(Form):
    text: Text
