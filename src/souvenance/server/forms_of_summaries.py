"""The bodies by which a person changes a conversation's summary."""

from __future__ import annotations

from pydantic import StrictBool, StrictInt

from souvenance.app.settle_stale import Decision
from souvenance.server.forms import Form, Text


class NodeForm(Form):
    """A node's whole text, in the form in which it is read; `seen` is the version that it was written on."""

    text: Text
    seen: StrictInt


class DecisionForm(Form):
    """What becomes of an edited node whose messages changed since; `seen` is the version that was read."""

    decision: Decision
    seen: StrictInt


class NewRuleForm(Form):
    text: Text


class RuleForm(Form):
    """A rule's new words; `was` is what it said when it was read."""

    text: Text
    was: Text


class InForceForm(Form):
    in_force: StrictBool
