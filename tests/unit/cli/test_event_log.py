from __future__ import annotations

import logging

from souvenance.cli.event_log import EventFormatter


def test_an_event_is_one_line_with_its_fields() -> None:
    record = logging.makeLogRecord({"name": "souvenance.x", "levelname": "INFO", "msg": "erasures_purged", "count": 2})
    line = EventFormatter().format(record)
    assert line.endswith("INFO souvenance.x erasures_purged count=2")
    assert "\n" not in line


def test_a_surprise_is_told_after_the_line() -> None:
    error = RuntimeError("lost")
    fields = {"msg": "purge_failed", "owner": "own_local", "exc_info": (type(error), error, None)}
    first, *rest = EventFormatter().format(logging.makeLogRecord(fields)).splitlines()
    assert first.endswith("purge_failed owner=own_local")
    assert rest[-1] == "RuntimeError: lost"
