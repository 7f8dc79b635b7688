"""Epochs of memory blocks (C6), and the short numbers by which a conversation names memories (V1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from sqlalchemy import bindparam, func, select
from sqlalchemy.dialects.postgresql import insert as upsert

from souvenance.domain.epoch import Epoch, EpochLine
from souvenance.domain.ids import BotId, ConversationId, MemoryId
from souvenance.storage.batches import batches
from souvenance.storage.repository import Repository, owned
from souvenance.storage.schema import epochs, short_ids

_BARE_MODEL = "-"

_GET = select(epochs.c.number, epochs.c.places, epochs.c.basis, epochs.c.lines).where(
    owned(epochs), epochs.c.conversation_id == bindparam("conversation"), epochs.c.speaker == bindparam("speaking")
)
_NEW = upsert(epochs)
_SAVE = _NEW.on_conflict_do_update(
    index_elements=["owner_id", "conversation_id", "speaker"],
    set_={name: _NEW.excluded[name] for name in ("number", "places", "basis", "lines")},
)
_OF = select(short_ids.c.memory_id, short_ids.c.number).where(
    owned(short_ids),
    short_ids.c.conversation_id == bindparam("conversation"),
    short_ids.c.memory_id.in_(bindparam("ids", expanding=True)),
)
_LAST = select(func.max(short_ids.c.number)).where(
    owned(short_ids), short_ids.c.conversation_id == bindparam("conversation")
)

# Two processes may number the same conversation at once: what was given first stands.
_PUT_NUMBERS = upsert(short_ids).on_conflict_do_nothing()


class SqlEpochs(Repository):
    """`ports.prompts.Epochs`."""

    __slots__ = ()

    def get(self, conversation_id: ConversationId, bot_id: BotId | None) -> Epoch | None:
        row = self._row(_GET, conversation=conversation_id, speaking=bot_id or _BARE_MODEL)
        if row is None:
            return None
        places = json.loads(row.places)
        return Epoch(
            conversation_id=conversation_id,
            bot_id=bot_id,
            number=row.number,
            place=places.pop(self._owner_id),
            others=places,
            basis=json.loads(row.basis),
            lines=_lines(row.lines),
        )

    def save(self, epoch: Epoch) -> None:
        lines = [[line.memory_id, line.version, line.pinned, line.short, line.text] for line in epoch.lines]
        self._write(
            _SAVE,
            conversation_id=epoch.conversation_id,
            speaker=epoch.bot_id or _BARE_MODEL,
            number=epoch.number,
            places=json.dumps({**epoch.others, self._owner_id: epoch.place}),
            basis=json.dumps(dict(epoch.basis), ensure_ascii=False, separators=(",", ":")),
            lines=json.dumps(lines, ensure_ascii=False, separators=(",", ":")),
        )


class SqlShortIds(Repository):
    """`ports.prompts.ShortIds`."""

    __slots__ = ()

    def of(self, conversation_id: ConversationId, memory_ids: Sequence[MemoryId]) -> dict[MemoryId, int]:
        return {
            row.memory_id: row.number
            for some in batches(memory_ids)
            for row in self._rows(_OF, conversation=conversation_id, ids=some)
        }

    def last(self, conversation_id: ConversationId) -> int:
        return self._run(_LAST, conversation=conversation_id).scalar_one() or 0

    def put(self, conversation_id: ConversationId, numbers: Mapping[MemoryId, int]) -> None:
        rows = [
            {"conversation_id": conversation_id, "memory_id": memory_id, "number": number}
            for memory_id, number in numbers.items()
        ]
        self._insert(_PUT_NUMBERS, rows)


@lru_cache(maxsize=16)
def _lines(written: str) -> tuple[EpochLine, ...]:
    """Kept for the turns to come, which read the same hundred lines: an epoch holds still between compactions."""
    return tuple(
        EpochLine(memory_id=memory_id, version=version, pinned=pinned, text=text, short=short)
        for memory_id, version, pinned, short, text in json.loads(written)
    )
