from __future__ import annotations

from typing import Any

from tests.flows.serving import Served


async def add(server: Served, text: str, **more: Any) -> dict[str, Any]:
    answer = await server.rest.post("/memories", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


async def test_a_memory_is_added_read_edited_and_found_by_words(both: Served) -> None:
    memory = await add(both, "Lives in Tromsø")
    assert memory["scope"] == "account"
    assert memory["origin"] == "manual"
    assert memory["confidence"] == 1.0
    assert memory["recent"] is True
    edited = await both.rest.patch(f"/memories/{memory['id']}", json={"seen": 1, "text": "Lives in Orléans"})
    assert edited.json()["text"] == "Lives in Orléans"
    hits = await both.rest.post("/memories/query", json={"text": "orleans"})
    assert [hit["memory"]["id"] for hit in hits.json()["memories"]] == [memory["id"]]
    assert hits.json()["memories"][0]["why"]
    history = await both.rest.get(f"/memories/{memory['id']}/history")
    assert [(each["intent"], each["text"]) for each in history.json()["items"]] == [
        ("add", "Lives in Tromsø"),
        ("update", "Lives in Orléans"),
    ]


async def test_a_list_comes_in_pages_without_gap_or_repeat(both: Served) -> None:
    added = [(await add(both, f"Fact number {number}"))["id"] for number in range(7)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        page = (await both.rest.get("/memories", params=params)).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(added)


async def test_what_says_the_same_is_there_once(server: Served) -> None:
    first = await add(server, "Likes green tea")
    again = await server.rest.post("/memories", json={"text": "likes green tea."})
    assert again.status_code == 200
    assert again.json()["created"] is False
    assert again.json()["memory"]["id"] == first["id"]


async def test_m10_the_same_words_about_two_people_are_two_memories(server: Served) -> None:
    added = [await add(server, "Likes tea", **about) for about in ({"subject": "Ann"}, {"subject": "Bob"}, {})]
    assert [memory["subject"] for memory in added] == ["Ann", "Bob", ""]
    assert len({memory["id"] for memory in added}) == 3
    similar = (await server.rest.post("/memories/similar", json={"text": "likes tea", "subject": "bob"})).json()
    assert [one["memory"]["subject"] for one in similar["items"] if one["equal"]] == ["Bob"]
    ann, bob, _ = added
    taken = await server.rest.patch(f"/memories/{bob['id']}", json={"seen": 1, "subject": "ann"})
    assert (taken.status_code, taken.json()["code"]) == (409, "conflict")
    assert ann["id"] in taken.text


async def test_an_erased_memory_is_gone_at_once_and_can_be_taken_back(both: Served) -> None:
    memory = await add(both, "Allergic to walnuts")
    erasure = (await both.rest.delete(f"/memories/{memory['id']}")).json()
    assert erasure["memory_ids"] == [memory["id"]]
    assert erasure["until"] > erasure["at"]
    assert (await both.rest.get(f"/memories/{memory['id']}")).status_code == 404
    assert (await both.rest.get("/memories")).json()["items"] == []
    undone = await both.rest.post(f"/erasures/{erasure['id']}/undo")
    assert undone.status_code == 200
    assert (await both.rest.get(f"/memories/{memory['id']}")).json()["text"] == "Allergic to walnuts"


async def test_several_memories_are_erased_together_or_not_at_all(server: Served) -> None:
    ids = [(await add(server, text))["id"] for text in ("One", "Two")]
    refused = await server.rest.post("/memories/erase", json={"ids": [*ids, "mem_none"]})
    assert refused.status_code == 404
    assert len((await server.rest.get("/memories")).json()["items"]) == 2
    done = await server.rest.post("/memories/erase", json={"ids": ids})
    assert sorted(done.json()["memory_ids"]) == sorted(ids)
    assert (await server.rest.get("/memories")).json()["items"] == []


async def test_a_pin_and_an_archiving_show_in_list_and_room(server: Served) -> None:
    pinned = await add(server, "Call me Alex")
    hidden = await add(server, "Had a cold in May")
    await server.rest.put(f"/memories/{pinned['id']}/pin", json={"pinned": True})
    await server.rest.put(f"/memories/{hidden['id']}/archived", json={"archived": True})
    archived = (await server.rest.get("/memories", params={"shelf": "archived"})).json()["items"]
    assert [item["id"] for item in archived] == [hidden["id"]]
    room = (await server.rest.get("/memories/room")).json()
    assert (room["pinned"], room["pinned_limit"], room["unpinned_limit"]) == (1, 20, 100)


async def test_a_pin_too_many_is_refused_with_the_figures(server: Served) -> None:
    for number in range(20):
        await add(server, f"Pinned fact {number}", pinned=True)
    one_more = await add(server, "One more")
    refused = await server.rest.put(f"/memories/{one_more['id']}/pin", json={"pinned": True})
    assert refused.status_code == 409
    assert refused.json()["code"] == "pin_room_full"
    assert (refused.json()["details"]["pinned"], refused.json()["details"]["limit"]) == (20, 20)
    assert (await server.rest.get(f"/memories/{one_more['id']}")).json()["pinned"] is False


async def test_a_stale_edit_is_refused_with_both_texts(both: Served) -> None:
    memory = await add(both, "Works at the harbour")
    await both.rest.patch(f"/memories/{memory['id']}", json={"seen": 1, "text": "Works at the lighthouse"})
    stale = await both.rest.patch(f"/memories/{memory['id']}", json={"seen": 1, "text": "Works at the mill"})
    assert stale.status_code == 409
    details = stale.json()["details"]
    assert (details["seen"], details["current"]) == (1, 2)
    assert (details["theirs"], details["yours"]) == ("Works at the lighthouse", "Works at the mill")


async def test_a_notebooks_key_is_unique(server: Served) -> None:
    bot_id = await server.bot("Notes", preset="notebook")
    entry = {"text": "Alice", "key": "user_name", "scope": f"bot:{bot_id}"}
    first = await server.rest.post("/memories", json=entry)
    assert (first.json()["memory"]["key"], first.json()["memory"]["value"]) == ("user_name", "Alice")
    again = await server.rest.post("/memories", json={**entry, "text": "Bob"})
    assert again.status_code == 409
    assert again.json()["code"] == "key_taken"
    over = await server.rest.post("/memories", json={**entry, "text": "Bob", "overwrite": True})
    assert over.json()["memory"]["value"] == "Bob"


async def test_m9_a_scope_is_cleared_in_two_calls_and_the_second_needs_the_count(both: Served) -> None:
    for text in ("Likes tea", "Likes rum"):
        await add(both, text)
    kept = await add(both, "Allergic to walnuts", pinned=True)
    cleared = (await both.rest.delete("/memories", params={"scope": "account"})).json()
    assert (len(cleared["erasure"]["memory_ids"]), cleared["pinned"]) == (2, 1)
    for count in ({}, {"count": 2}):
        refused = await both.rest.delete("/memories/pinned", params={"scope": "account", **count})
        assert refused.status_code == 409, refused.text
    assert [item["id"] for item in (await both.rest.get("/memories")).json()["items"]] == [kept["id"]]
    erasure = await both.rest.delete("/memories/pinned", params={"scope": "account", "count": cleared["pinned"]})
    assert erasure.json()["memory_ids"] == [kept["id"]]
    again = (await both.rest.delete("/memories", params={"scope": "account"})).json()
    assert again == {"erasure": None, "pinned": 0}


async def test_m9_an_empty_filter_is_an_error_and_never_everything(server: Served) -> None:
    await add(server, "Likes tea")
    for path in ("/memories", "/memories?scope=", "/memories/pinned", "/memories/pinned?scope=&count=0"):
        answer = await server.rest.delete(path)
        assert 400 <= answer.status_code < 500, answer.text
        assert "scope" in answer.text
    assert len((await server.rest.get("/memories")).json()["items"]) == 1


async def test_m11_what_was_changed_or_removed_is_brought_back_from_the_history(both: Served) -> None:
    bot = (await both.rest.post("/bots", json={"name": "Ada"})).json()
    memory = await add(both, "Likes tea", scope=f"bot:{bot['id']}")
    await both.rest.patch(f"/memories/{memory['id']}", json={"seen": 1, "text": "Likes rum"})
    first = (await both.rest.get(f"/memories/{memory['id']}/history")).json()["items"][0]["place"]
    back = await both.rest.post(f"/memories/{memory['id']}/bring-back", json={"place": first})
    assert back.json()["text"] == "Likes tea"
    assert (await both.rest.get("/memories/removed")).json() == {"items": [], "next": None}
    wrong = await both.rest.post(f"/memories/{memory['id']}/bring-back", json={"place": 10_000})
    assert (wrong.status_code, wrong.json()["details"]["field"]) == (422, "place")
