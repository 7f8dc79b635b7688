"""SQLite's plans: what a turn reads is found by an index that narrows it down, however much its owner has (Z3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from souvenance.storage.planner import narrowing
from souvenance.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("SELECT text FROM messages WHERE owner_id = 'o' AND turn_id = 't' ORDER BY part, variant", "messages_by_turn"),
        ("SELECT text FROM messages WHERE owner_id = 'o' AND origin_id = 'm'", "messages_by_origin"),
        (
            "SELECT text FROM memories WHERE owner_id = 'o' AND scope IN ('a', 'b') AND changed > 7 ORDER BY changed",
            "memories_by_change",
        ),
        (
            "SELECT parts FROM prompts WHERE owner_id = 'o' AND conversation_id = 'c' ORDER BY prompt_id DESC LIMIT 1",
            "prompts_by_conversation",
        ),
        ("SELECT items FROM nodes WHERE owner_id = 'o' AND conversation_id = 'c' AND live = 1", "nodes_live"),
        (
            "SELECT node_id FROM nodes WHERE owner_id = 'o' AND conversation_id = 'c' AND first <= 9 AND last >= 9",
            "COVERING INDEX nodes_by_turn",
        ),
    ],
)
async def test_an_index_is_preferred_to_walking_all_that_an_owner_has(
    tmp_path: Path, statement: str, index: str
) -> None:
    store = await SqliteStore.open(tmp_path)
    with store.engine.connect() as connection:
        plan = connection.execute(text(f"EXPLAIN QUERY PLAN {statement}")).all()
    await store.close()
    assert index in plan[0].detail


def test_each_column_narrows_down_and_a_unique_index_comes_to_one_row() -> None:
    assert list(narrowing(3, unique=True)) == [100_000, 316, 1]
    assert list(narrowing(2, unique=False)) == [100_000, 10]
    assert list(narrowing(1, unique=True)) == [1]
