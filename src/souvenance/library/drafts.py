"""`memory.drafts`: memories that are drafted, reviewed, then saved or discarded (V5, V6, V10)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from souvenance.app import drafts
from souvenance.app.bots import find_bot
from souvenance.app.draft_memories import Description, draft_memories
from souvenance.app.save_drafts import save_drafts
from souvenance.app.save_from_conversation import How, Selection, draft_from_messages
from souvenance.domain.conversation import Message
from souvenance.domain.draft import Draft
from souvenance.domain.ids import DraftId, MessageId, known_shape
from souvenance.domain.memory import ACCOUNT_SCOPE, Scope
from souvenance.library.pages import walk

if TYPE_CHECKING:
    from souvenance.app.drafts import Drafted
    from souvenance.app.remember import Remembered
    from souvenance.wiring import House


class Drafts:
    """What waits to be reviewed. It is in no prompt, search or count; after a week it is gone."""

    def __init__(self, house: House) -> None:
        self._kit = house.kit
        self._owner = house.owner_id

    async def generate(self, description: str, *, bot: str | None = None, model: str | None = None) -> Drafted:
        """Let a model draft what a bot, or without one the account, should remember. It reads no conversation (V5).

        Raises UnusableDrafts when its answer, asked for twice, is none; NoModel, NotFound, TextTooLong.
        """
        target = ACCOUNT_SCOPE if bot is None else (await find_bot(self._kit, self._owner, bot)).bot_id
        return await draft_memories(self._kit, self._owner, Description(text=description, target=target, model=model))

    async def from_messages(
        self,
        *messages: Message | MessageId,
        how: How | str = How.DRAFT,
        pinned: bool = True,
        model: str | None = None,
    ) -> Drafted:
        """Draft from messages of one conversation: `how` is `draft` (by a model), `each` or `joined` (as they are).

        Raises MemoryIsOff in a challenge or temporary chat, TooMany, TextTooLong, NotFound.
        """
        ids = tuple(map(_message_id, messages))
        selection = Selection(message_ids=ids, how=How.read(how), pinned=pinned, model=model)
        return await draft_from_messages(self._kit, self._owner, selection)

    def list(self) -> AsyncGenerator[Draft, None]:
        """All that wait, oldest first."""
        return walk(lambda cursor: drafts.list_drafts(self._kit, self._owner, cursor=cursor))

    async def edit(
        self,
        draft: Draft | DraftId,
        *,
        text: str | None = None,
        key: str | None = None,
        pinned: bool | None = None,
        scope: Scope | None = None,
    ) -> Draft:
        """The draft as changed; an empty `key` takes the key away. DraftExpired when it is too late."""
        return await drafts.edit_draft(
            self._kit, self._owner, _draft_id(draft), text=text, key=key, pinned=pinned, scope=scope
        )

    async def discard(self, draft: Draft | DraftId) -> None:
        await drafts.discard_draft(self._kit, self._owner, _draft_id(draft))

    async def save(self, *wanted: Draft | DraftId, overwrite: bool = False) -> tuple[Remembered, ...]:
        """Make memories of them, all or none: PinRoomFull, KeyTaken (unless `overwrite`), DraftExpired, NotFound."""
        return await save_drafts(self._kit, self._owner, tuple(map(_draft_id, wanted)), overwrite=overwrite)


def _draft_id(given: Draft | DraftId) -> DraftId:
    return DraftId(known_shape("draft", given.draft_id if isinstance(given, Draft) else given))


def _message_id(given: Message | MessageId) -> MessageId:
    return MessageId(known_shape("message", given.message_id if isinstance(given, Message) else given))
