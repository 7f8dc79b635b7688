"""Server-sent events out of bytes that arrive cut anywhere."""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its `data:` lines joined by newlines, as bytes."""

    name: str
    data: bytes


class EventTooLong(ValueError):
    """An event passed MAX_EVENT_BYTES without ending."""


class EventReader:
    """Takes bytes, gives whole events; comments, ids and retry fields are left out.

    Lines end with LF, CRLF or CR, as the standard allows. Bytes are never decoded here, so a character cut by the
    network stays whole. `close` gives the event that the stream ended in, with or without its last newline.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0
        self._first = True

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete. Raises EventTooLong."""
        self._rest += data
        if self._first and len(self._rest) >= 3:
            self._first = False
            if self._rest.startswith(b"\xef\xbb\xbf"):
                del self._rest[:3]
        # A CR at the very end may be half a CRLF: it waits for the next bytes.
        held = 1 if self._rest.endswith(b"\r") else 0
        lines = self._rest[: len(self._rest) - held].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + self._rest[len(self._rest) - held :]
        if len(self._rest) + self._size > MAX_EVENT_BYTES:
            raise EventTooLong(f"an event of more than {MAX_EVENT_BYTES} bytes")
        return [event for line in lines if (event := self._line(bytes(line))) is not None]

    def close(self) -> list[Event]:
        """The event that was open when the stream ended, if it has any data."""
        line = bytes(self._rest).rstrip(b"\r")
        self._rest.clear()
        events = [self._line(line), self._line(b"")]
        return [event for event in events if event is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._size += len(value) + 1
        elif field == b"event":
            self._name = value.decode(errors="replace")
        return None

    def _dispatch(self) -> Event | None:
        name, data = self._name, self._data
        self._name, self._data, self._size = "", [], 0
        return Event(name, b"\n".join(data)) if data else None
