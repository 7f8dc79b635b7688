"""The server's log on stderr: one event a line with its fields, never the text of a memory or a message."""

from __future__ import annotations

import logging

_OF_EVERY_RECORD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class EventFormatter(logging.Formatter):
    """`2026-01-05 09:00:00,000 INFO souvenance.server.application erasures_purged count=2`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        fields = {name: value for name, value in vars(record).items() if name not in _OF_EVERY_RECORD}
        return " ".join([super().formatMessage(record), *(f"{name}={value}" for name, value in fields.items())])


def log_events(level: str) -> None:
    """From now on events of this level and above go to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(EventFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # A line for each call to a model, or for each part of a migration, would drown the events.
    for talkative in ("httpx2", "alembic"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
