"""The main job on real input: an OpenAI client talks through Souvenance; what was said long ago is in the prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from souvenance.domain.limits import Limits
from souvenance.models.tokens import O200k
from souvenance.testing import RecordedRequest, ScriptedUpstream
from tests.acceptance.dialogue import exchanges
from tests.acceptance.replay import Fact, Replay, of_turns
from tests.acceptance.serving import ROOT, Installation, Server
from tests.acceptance.stored import conversation_ids, listed, make_notebook, messages, read
from tests.counts import times

FACT = Fact(key="allergy", value="kiwi fruit, since the summer at the lake")
FACT_TURN = 6
_LIMITS = Limits()
MOST_MESSAGES = int(_LIMITS.balanced_messages * (1 + _LIMITS.lag_share))
MOST_TOKENS = int(_LIMITS.balanced_tokens * (1 + _LIMITS.lag_share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A replay that has come to its end, and the server as it is then."""

    replay: Replay
    server: Server
    rest: httpx2.AsyncClient
    upstream: ScriptedUpstream

    @property
    def requests(self) -> list[RecordedRequest]:
        """What the model was asked, turn by turn."""
        return of_turns(self.upstream.requests)


@pytest.mark.timeout(times(600, full=7_200))
@pytest.mark.parametrize("model", ["Ledger", "scripted@Mira"], ids=["notebook", "companion"])
async def test_a_long_conversation_keeps_its_messages_its_window_and_its_early_fact(
    model: str,
    database_url: str | None,
    upstream: ScriptedUpstream,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    reached = tmp_path / "reached"
    installation = Installation(
        folder=tmp_path / "data", model=upstream.url, database_url=database_url, environment=_audited(reached)
    )
    replay = Replay(dialogue=exchanges(), model=model, facts={FACT_TURN: FACT})
    upstream.respond_with(replay.answer)
    async with Server(installation) as server, server.openai() as client, server.rest() as rest:
        if "@" not in model:
            await make_notebook(rest, model)
        await replay.run(client)
        finished = Finished(replay=replay, server=server, rest=rest, upstream=upstream)
        await _check_messages(finished)
        widest = _check_windows(finished)
        await _check_fact(finished)
        await _check_last_prompt(finished)
        asked = _check_reached(finished, reached)
    record_property(
        "proof",
        f"replay, {model}, {_name(database_url)}: {len(replay.messages)} messages stored once and in order; widest "
        f"window {widest} messages; fact of turn {FACT_TURN + 1} in the last prompt, which reads back byte for byte; "
        f"{asked} connections, all to the model",
    )


def _audited(reached: Path) -> dict[str, str]:
    """Have the server note every address that it tries to reach."""
    return {"PYTHONPATH": str(ROOT / "tests" / "acceptance" / "audit"), "SOUVENANCE_TEST_AUDIT": str(reached)}


def _name(database_url: str | None) -> str:
    return "SQLite" if database_url is None else "PostgreSQL"


async def _check_messages(finished: Finished) -> None:
    conversations = await conversation_ids(finished.rest)
    assert len(conversations) == 1, "the re-sent history is recognised every time (I3)"
    found = await messages(finished.rest, conversations[0])
    assert [(message["role"], message["text"]) for message in found] == finished.replay.messages
    assert {message["state"] for message in found} == {"whole"}


def _check_windows(finished: Finished) -> int:
    """W1, W4 and W5 for every prompt; returns the most messages that any window held."""
    said = [("user" if who == "user" else "assistant", text) for who, text in finished.replay.messages]
    requests = finished.requests
    assert len(requests) == len(finished.replay.dialogue)
    sizes = [_check_window(request, said[: 2 * at + 1]) for at, request in enumerate(requests)]
    full = _LIMITS.balanced_messages * _LIMITS.rest_share
    assert max(sizes) > full or len(said) <= full, "the window fills beyond where a compaction stops (W6)"
    return max(sizes)


def _check_window(request: RecordedRequest, so_far: Sequence[tuple[str, str]]) -> int:
    sent = json.loads(request.body)["messages"]
    window = [(message["role"], message["content"]) for message in sent if message["role"] != "system"]
    assert (sent[-1]["role"], sent[-1]["content"]) == so_far[-1], "the newest user message comes last and whole (W5)"
    assert window == so_far[-len(window) :], "the window is the end of the conversation, without a gap"
    assert window[0][0] == "user", "the window begins at a whole turn (W6)"
    assert len(window) <= MOST_MESSAGES
    assert _tokens(text for _, text in window) <= MOST_TOKENS
    return len(window)


def _tokens(texts: Iterable[str]) -> int:
    counter = O200k()
    return sum(counter.count(text) for text in texts)


async def _check_fact(finished: Finished) -> None:
    last = finished.requests[-1].body.decode()
    assert FACT.value in last, "what was stored long ago stands in the last prompt"
    memories = await listed(finished.rest, "/memories")
    assert len(memories) == 1
    assert FACT.value in memories[0]["text"]
    assert memories[0]["scope"].startswith("bot:")


async def _check_last_prompt(finished: Finished) -> None:
    """C1: what was sent can be read back, byte for byte."""
    [conversation] = await conversation_ids(finished.rest)
    last = (await messages(finished.rest, conversation))[-1]
    [prompt] = (await read(finished.rest, f"/messages/{last['id']}/prompts"))["items"]
    body = await finished.rest.get(f"/prompts/{prompt['id']}/body")
    assert body.content == finished.requests[-1].body


def _check_reached(finished: Finished, reached: Path) -> int:
    """D3: the model's address, the database where that is a server's, and nothing else. Returns how often the model."""
    seen = [_target(*json.loads(line)) for line in reached.read_text(encoding="utf-8").splitlines()]
    model, own = (urlsplit(url).netloc for url in (finished.upstream.url, finished.server.address))
    url = finished.server.installation.database_url
    database = () if url is None else (parse_qs(urlsplit(url).query)["host"][0],)
    # To listen a server resolves its own address.
    listening = {f"resolve {own}"}
    asked = [target for target in seen if target in (f"connect {model}", f"resolve {model}")]
    others = set(seen) - set(asked) - listening
    assert {other for other in others if not re.match(rf"connect ({'|'.join(database) or '$'})/", other)} == set()
    connected = asked.count(f"connect {model}")
    assert connected > 0, "the audit hook was in place"
    return connected


def _target(event: str, target: object) -> str:
    verb = "connect" if event == "socket.connect" else "resolve"
    place = ":".join(map(str, target[:2])) if isinstance(target, list) else str(target)
    return f"{verb} {place}"
