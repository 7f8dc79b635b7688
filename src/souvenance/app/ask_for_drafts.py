"""Ask a model for drafts of memories (V5, V6)."""

from __future__ import annotations

from functools import partial

from souvenance.app.ask_twice import Answered, Asking, ask_twice
from souvenance.app.kit import Kit
from souvenance.domain.ids import OwnerId
from souvenance.errors import UnusableDrafts
from souvenance.ports.chat_model import ModelInfo
from souvenance.prompts.draft_memories import Form, Proposed, parse
from souvenance.prompts.question import Question

Drafts = tuple[Proposed, ...]


async def ask_for_drafts(
    kit: Kit, owner_id: OwnerId, model: ModelInfo, question: Question, form: Form
) -> Answered[Drafts]:
    """What `model` drafts. UnusableDrafts when its second answer is no better; PromptTooLarge; what models raise."""
    asking = Asking(
        model=model,
        question=question,
        parse=partial(parse, form=form),
        unusable=UnusableDrafts,
        reply_tokens=kit.limits.reply_tokens,
        most_characters=kit.limits.message_characters,
    )
    return await ask_twice(kit, owner_id, asking)
