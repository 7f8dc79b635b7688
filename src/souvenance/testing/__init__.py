"""Doubles for people who build on Souvenance: a scripted model, a scripted upstream, a frozen clock, counted ids."""

from __future__ import annotations

from souvenance.testing.clock import CountedIds, FrozenClock
from souvenance.testing.http_exchange import RecordedRequest
from souvenance.testing.script import (
    BadLine,
    Call,
    EmptyReply,
    Fault,
    HalfStream,
    Hang,
    HtmlPage,
    Raw,
    Reply,
    StreamError,
    Text,
    ToolCalls,
    call,
    say,
)
from souvenance.testing.scripted_model import ScriptedModel
from souvenance.testing.scripted_upstream import ScriptedUpstream, echo

__all__ = [
    "BadLine",
    "Call",
    "CountedIds",
    "EmptyReply",
    "Fault",
    "FrozenClock",
    "HalfStream",
    "Hang",
    "HtmlPage",
    "Raw",
    "RecordedRequest",
    "Reply",
    "ScriptedModel",
    "ScriptedUpstream",
    "StreamError",
    "Text",
    "ToolCalls",
    "call",
    "echo",
    "say",
]
