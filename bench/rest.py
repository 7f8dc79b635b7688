"""One kept-alive connection to a served memory's REST door."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

from souvenance.domain.json_object import JsonObject

_PAUSE = 0.02


class Rest:
    """`call` answers with the JSON of a 2xx, and raises ValueError with the body of any other."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)

    def call(self, method: str, path: str, body: JsonObject | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        self._connection.request(method, f"/api/v1{path}", data, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        answered = response.read()
        if response.status >= 300:
            raise ValueError(f"{method} {path}: {response.status} {answered[:500]!r}")
        found: dict[str, Any] = json.loads(answered or b"{}")
        return found

    def converse(self, *, name: str, preset: str, system_prompt: str) -> str:
        """A new bot and a conversation with it; its id."""
        # The server hangs up on those who rest for long; the next request connects anew.
        self._connection.close()
        bot = self.call("POST", "/bots", {"name": name, "preset": preset, "system_prompt": system_prompt})
        return str(self.call("POST", "/conversations", {"bot": bot["id"]})["id"])

    def say(self, conversation_id: str, text: str) -> dict[str, Any]:
        """One turn, to its end."""
        return self.call("POST", f"/conversations/{conversation_id}/turns", {"text": text, "stream": False})

    def first_token(self, conversation_id: str, text: str) -> float:
        """Seconds until the first word of the reply; returns after the last byte."""
        body, path = json.dumps({"text": text}).encode(), f"/api/v1/conversations/{conversation_id}/turns"
        began, passed = time.perf_counter(), None
        self._connection.request("POST", path, body, {"Content-Type": "application/json"})
        for line in self._connection.getresponse():
            if passed is None and line.strip() == b"event: delta":
                passed = time.perf_counter() - began
        assert passed is not None, "a reply without a word"
        return passed

    def let_work_end(self) -> None:
        """Return once nothing is due in the background; raises ValueError when a piece was parked."""
        while items := self.call("GET", "/work")["items"]:
            if any(item["state"] == "parked" for item in items):
                raise ValueError(f"parked: {items}")
            time.sleep(_PAUSE)

    def close(self) -> None:
        self._connection.close()
