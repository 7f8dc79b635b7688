"""Sent prompts, kept as references to parts that a conversation keeps once (C1), and calibrations (C5).

A part's id is a keyed hash of what it holds, so a prompt that repeats the one before it writes its new parts only.
Parts are shared within one conversation: what a dropped prompt leaves behind is told from that conversation's others.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.domain.cost import Calibration
from souvenance.domain.ids import ConversationId, MessageId, NodeId, PromptId, TurnId
from souvenance.domain.sent import ERASED, LeftOut, Part, SentPrompt
from souvenance.errors import NotFound, StoreError
from souvenance.storage.batches import batches
from souvenance.storage.hashing import keyed
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import calibrations, conversations, prompt_parts, prompts

_PART_ID = 12
_LONGEST_KEPT = 2_000
"""Bytes of a part whose id is kept in this process."""

_GET = select(prompts).where(owned(prompts), prompts.c.prompt_id == bindparam("id"))
_OF_MESSAGE = (
    select(prompts)
    .where(owned(prompts), prompts.c.message_id == bindparam("message"))
    .order_by(prompts.c.at, prompts.c.round, prompts.c.prompt_id)
)
_IN_CONVERSATION = (owned(prompts), prompts.c.conversation_id == bindparam("conversation"))
_NEWEST = select(prompts).where(*_IN_CONVERSATION).order_by(prompts.c.prompt_id.desc()).limit(bindparam("limit"))
_NEWEST_PARTS = _NEWEST.with_only_columns(prompts.c.parts)
_PARTS = select(prompt_parts).where(
    owned(prompt_parts),
    prompt_parts.c.conversation_id == bindparam("conversation"),
    prompt_parts.c.part_id.in_(bindparam("ids", expanding=True)),
)
_PUT_PARTS = upsert(prompt_parts).on_conflict_do_nothing()
_OLD = (
    select(prompts.c.prompt_id, prompts.c.conversation_id, prompts.c.parts)
    .where(owned(prompts), prompts.c.at < bindparam("before"))
    .order_by(prompts.c.at, prompts.c.prompt_id)
    .limit(bindparam("limit"))
)
_HOLD = (
    select(conversations.c.conversation_id)
    .where(owned(conversations), conversations.c.conversation_id.in_(bindparam("ids", expanding=True)))
    .order_by(conversations.c.conversation_id)
    .with_for_update()
)
_DROP = delete(prompts).where(owned(prompts), prompts.c.prompt_id.in_(bindparam("ids", expanding=True)))
_REMAINING = select(prompts.c.parts).where(*_IN_CONVERSATION)
_DROP_PARTS = delete(prompt_parts).where(
    owned(prompt_parts),
    prompt_parts.c.conversation_id == bindparam("conversation"),
    prompt_parts.c.part_id.in_(bindparam("ids", expanding=True)),
)

_SENT_IN = select(prompts.c.prompt_id, prompts.c.parts).where(*_IN_CONVERSATION)
_SENT_FOR = {
    name: _SENT_IN.where(prompts.c[name].in_(bindparam("ids", expanding=True))) for name in ("turn_id", "message_id")
}
_DROP_ALL = (
    delete(prompts).where(*_IN_CONVERSATION),
    delete(prompt_parts).where(owned(prompt_parts), prompt_parts.c.conversation_id == bindparam("conversation")),
)
_BLANK = (
    update(prompt_parts)
    .where(owned(prompt_parts), prompt_parts.c.message_id.in_(bindparam("ids", expanding=True)))
    .values(data=None)
)

_BLANK_NODES = (
    update(prompt_parts)
    .where(owned(prompt_parts), prompt_parts.c.node_id.in_(bindparam("ids", expanding=True)))
    .values(data=None)
)
_NODES_SENT = (
    select(prompt_parts.c.node_id)
    .where(
        owned(prompt_parts),
        prompt_parts.c.node_id.is_not(None),
        prompt_parts.c.conversation_id == bindparam("conversation"),
    )
    .distinct()
)

_LEARNT = select(calibrations.c.replies, calibrations.c.estimated, calibrations.c.reported).where(
    owned(calibrations), calibrations.c.model == bindparam("name")
)
_NEW = upsert(calibrations)
_LEARN = _NEW.on_conflict_do_update(
    index_elements=["owner_id", "model"],
    set_={name: _NEW.excluded[name] for name in ("replies", "estimated", "reported")},
)


class SqlPrompts(Repository):
    """`ports.prompts.Prompts`."""

    __slots__ = ()

    def put(self, prompt: SentPrompt) -> None:
        key = self._hash.key
        ids = [(_known_id if len(part.data) <= _LONGEST_KEPT else _part_id)(key, part) for part in prompt.parts]
        before = self._row(_NEWEST_PARTS, conversation=prompt.conversation_id, limit=1)
        parts = dict(zip(ids, prompt.parts, strict=True))
        missing = parts.keys() - set(_ids(before.parts) if before else ())
        rows = [
            {
                "conversation_id": prompt.conversation_id,
                "part_id": part_id,
                "memory_id": parts[part_id].memory_id,
                "message_id": parts[part_id].message_id,
                "node_id": parts[part_id].node_id,
                "data": parts[part_id].data,
            }
            for part_id in sorted(missing)
        ]
        self._insert(_PUT_PARTS, rows)
        self._insert(insert(prompts), [_values(prompt, ids)])

    def get(self, prompt_id: PromptId) -> SentPrompt:
        row = self._row(_GET, id=prompt_id)
        if row is None:
            raise NotFound("prompt", prompt_id)
        ids = _ids(row.parts)
        parts = {
            part.part_id: _part(part)
            for some in batches(sorted(set(ids)))
            for part in self._rows(_PARTS, conversation=row.conversation_id, ids=some)
        }
        if len(parts) < len(set(ids)):
            raise StoreError(f"Prompt {prompt_id} lacks {len(set(ids)) - len(parts)} of its parts.", id=prompt_id)
        return _prompt(row, tuple(parts[part_id] for part_id in ids))

    def of_message(self, message_id: MessageId) -> list[SentPrompt]:
        return [_prompt(row) for row in self._rows(_OF_MESSAGE, message=message_id)]

    def of_conversation(self, conversation_id: ConversationId, *, limit: int) -> list[SentPrompt]:
        return [_prompt(row) for row in self._rows(_NEWEST, conversation=conversation_id, limit=limit)]

    def forget_turns(self, conversation_id: ConversationId, turn_ids: Sequence[TurnId]) -> None:
        self._forget(conversation_id, "turn_id", turn_ids)

    def forget_replies(self, conversation_id: ConversationId, message_ids: Sequence[MessageId]) -> None:
        self._forget(conversation_id, "message_id", message_ids)

    def forget_conversation(self, conversation_id: ConversationId) -> None:
        for statement in _DROP_ALL:
            self._run(statement, conversation=conversation_id)

    def blank(self, message_ids: Sequence[MessageId]) -> None:
        for ids in batches(message_ids):
            self._run(_BLANK, ids=ids)

    def blank_nodes(self, node_ids: Collection[NodeId]) -> None:
        for ids in batches(sorted(node_ids)):
            self._run(_BLANK_NODES, ids=ids)

    def nodes_sent(self, conversation_id: ConversationId) -> set[NodeId]:
        return {NodeId(row.node_id) for row in self._rows(_NODES_SENT, conversation=conversation_id)}

    def forget_before(self, at: datetime, *, limit: int) -> int:
        old = self._rows(_OLD, before=at, limit=limit)
        dropped: defaultdict[ConversationId, set[bytes]] = defaultdict(set)
        for row in old:
            dropped[row.conversation_id].update(_ids(row.parts))
        # Prompts are put by who holds the conversation: none comes between the look at those that remain and the end.
        for some in batches(sorted(dropped)):
            self._run(_HOLD, ids=some)
        for prompt_ids in batches([row.prompt_id for row in old]):
            self._run(_DROP, ids=prompt_ids)
        for conversation_id, part_ids in dropped.items():
            self._drop_unused(conversation_id, part_ids)
        return len(old)

    def _forget(self, conversation_id: ConversationId, sent_for: str, ids: Sequence[str]) -> None:
        unused: set[bytes] = set()
        for some in batches(ids):
            sent = self._rows(_SENT_FOR[sent_for], conversation=conversation_id, ids=some)
            unused.update(part_id for row in sent for part_id in _ids(row.parts))
            for prompt_ids in batches([row.prompt_id for row in sent]):
                self._run(_DROP, ids=prompt_ids)
        if unused:
            self._drop_unused(conversation_id, unused)

    def _drop_unused(self, conversation_id: ConversationId, part_ids: set[bytes]) -> None:
        for row in self._rows(_REMAINING, conversation=conversation_id):
            part_ids.difference_update(_ids(row.parts))
        for some in batches(sorted(part_ids)):
            self._run(_DROP_PARTS, conversation=conversation_id, ids=some)


class SqlCalibrations(Repository):
    """`ports.prompts.Calibrations`."""

    __slots__ = ()

    def get(self, model: str) -> Calibration:
        row = self._row(_LEARNT, name=model)
        if row is None:
            return Calibration()
        return Calibration(replies=row.replies, estimated=row.estimated, reported=row.reported)

    def save(self, model: str, calibration: Calibration) -> None:
        self._write(
            _LEARN,
            model=model,
            replies=calibration.replies,
            estimated=calibration.estimated,
            reported=calibration.reported,
        )


def _values(prompt: SentPrompt, ids: Sequence[bytes]) -> dict[str, object]:
    return {
        "prompt_id": prompt.prompt_id,
        "conversation_id": prompt.conversation_id,
        "turn_id": prompt.turn_id,
        "message_id": prompt.message_id,
        "model": prompt.model,
        "at": prompt.at,
        "parts": b"".join(ids),
        "layers": json.dumps(dict(prompt.layers)),
        "left_out": json.dumps([[one.layer, one.item, one.tokens] for one in prompt.left_out]),
        "estimated_in": prompt.estimated_in,
        "estimated_out": prompt.estimated_out,
        "reported_in": prompt.reported_in,
        "reported_out": prompt.reported_out,
        "round": prompt.round,
        "epoch": prompt.epoch,
    }


def _part_id(key: bytes, part: Part) -> bytes:
    """A hash, under the owner's key, of what the part holds and whose words it is."""
    if part.node_id is not None:
        hashing, named = keyed(key, "node part", _PART_ID), f"{part.node_id} "
    else:
        hashing, named = keyed(key, "part", _PART_ID), f"{part.memory_id or ''} {part.message_id or ''} "
    hashing.update(named.encode() + part.data)
    return hashing.digest()


# Kept: nearly all of a prompt stood in the one before it.
_known_id = lru_cache(maxsize=8_192)(_part_id)


def _ids(joined: bytes) -> Sequence[bytes]:
    return [joined[start : start + _PART_ID] for start in range(0, len(joined), _PART_ID)]


def _part(row: Row[Any]) -> Part:
    data = ERASED if row.data is None else row.data
    return Part(data=data, memory_id=row.memory_id, message_id=row.message_id, node_id=row.node_id)


def _prompt(row: Row[Any], parts: tuple[Part, ...] = ()) -> SentPrompt:
    return SentPrompt(
        prompt_id=row.prompt_id,
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        message_id=row.message_id,
        model=row.model,
        at=row.at,
        parts=parts,
        layers=json.loads(row.layers),
        left_out=tuple(
            LeftOut(layer=layer, item=item, tokens=tokens) for layer, item, tokens in json.loads(row.left_out)
        ),
        estimated_in=row.estimated_in,
        estimated_out=row.estimated_out,
        reported_in=row.reported_in,
        reported_out=row.reported_out,
        round=row.round,
        epoch=row.epoch,
    )
