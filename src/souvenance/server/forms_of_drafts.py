"""The bodies of drafts and of the look at what already says a text."""

from __future__ import annotations

from pydantic import StrictBool

from souvenance.app.save_from_conversation import How
from souvenance.server.forms import Form, Text


class NewDraftsForm(Form):
    """For a `bot`, by name or id, or a `scope`; without both for the account."""

    description: Text
    bot: Text | None = None
    scope: Text | None = None
    model: Text | None = None


class FromMessagesForm(Form):
    """Messages of one conversation: drafted from by a model, each as it is, or joined."""

    message_ids: list[Text]
    how: How = How.DRAFT
    pinned: StrictBool = True
    model: Text | None = None


class DraftChanges(Form):
    """Fields that are left out stay as they are; an empty `key` takes the key away."""

    text: Text | None = None
    key: Text | None = None
    pinned: StrictBool | None = None
    scope: Text | None = None


class SaveDraftsForm(Form):
    """A notebook's key that has another value is replaced only with `overwrite`."""

    ids: list[Text]
    overwrite: StrictBool = False


class SimilarForm(Form):
    """A text that is about to be added, for a `bot`, by name or id, or a `scope`."""

    text: Text
    bot: Text | None = None
    scope: Text | None = None
    key: Text | None = None
    subject: Text = ""
