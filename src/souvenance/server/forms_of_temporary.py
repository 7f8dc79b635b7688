"""What the REST door takes in of a temporary chat (O4)."""

from __future__ import annotations

from pydantic import Field, StrictBool

from souvenance.domain.conversation import Role
from souvenance.server.forms import Form, Text


class SaidForm(Form):
    role: Role
    text: Text


class TemporaryTurnForm(Form):
    """A user message, and in `history` what was said before it, oldest first: nothing of either is stored.

    `bot` is a bot's name or id; without it a bare `model` answers.
    """

    text: Text
    bot: Text | None = None
    model: Text | None = None
    persona_id: Text | None = None
    history: list[SaidForm] = Field(default_factory=list)
    stream: StrictBool = True
