"""What a server has stored, read through its REST door."""

from __future__ import annotations

from typing import Any

import httpx2

PAGE = 37


async def listed(rest: httpx2.AsyncClient, path: str, **query: str) -> list[dict[str, Any]]:
    """All items of a list, page by page."""
    items: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await rest.get(path, params={**query, **cursor, "limit": PAGE})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        items += page["items"]
        if page["next"] is None:
            return items
        cursor = {"cursor": page["next"]}


async def conversation_ids(rest: httpx2.AsyncClient) -> list[str]:
    return [str(each["id"]) for each in await listed(rest, "/conversations")]


async def messages(rest: httpx2.AsyncClient, conversation_id: str) -> list[dict[str, Any]]:
    """Oldest first; each id and each place once."""
    found = (await listed(rest, f"/conversations/{conversation_id}/messages"))[::-1]
    places = [(message["position"], message["part"]) for message in found]
    assert places == sorted(set(places)), "every place is taken once, and they come in order"
    assert len({message["id"] for message in found}) == len(found)
    return found


async def read(rest: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    answer = await rest.get(path)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def make_notebook(rest: httpx2.AsyncClient, name: str) -> None:
    made = await rest.post("/bots", json={"name": name, "preset": "notebook"})
    assert made.status_code == 201, made.text
