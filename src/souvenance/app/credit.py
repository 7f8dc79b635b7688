"""What summaries may spend of an account's credit: refused before anything is sent that it does not cover (C4)."""

from __future__ import annotations

from souvenance.app.due_work import Work
from souvenance.app.kit import Kit
from souvenance.app.off_loop import off_loop
from souvenance.domain.budget import MESSAGE_OVERHEAD
from souvenance.domain.ids import NotificationId, OwnerId
from souvenance.domain.notification import Notification
from souvenance.errors import NoCredit
from souvenance.ports.chat_model import ModelInfo
from souvenance.ports.store import Unit
from souvenance.prompts.question import Question

NO_CREDIT = "no_credit"


async def check_credit(kit: Kit, owner_id: OwnerId, *, tokens_in: int, tokens_out: int) -> None:
    """Raise NoCredit when the credit does not cover what is known to be sent and the most that comes back.

    Until accounts have plans, credit is what the setting `credit_tokens` allows in all. Deeper memory spends none (V8).
    """
    if kit.credit_tokens is None:
        return
    spent = await kit.store.read(owner_id, lambda unit: unit.spending.in_all(but=Work.DEEPER), label="credit.read")
    left = max(0, kit.credit_tokens - spent)
    if tokens_in + tokens_out > left:
        raise NoCredit(tokens_in=tokens_in, tokens_out=tokens_out, left=left)


async def check_credit_for(kit: Kit, owner_id: OwnerId, model: ModelInfo, question: Question, tokens_out: int) -> None:
    """The same for one question."""
    if kit.credit_tokens is None:
        return
    said = question.system + question.user
    counted = 2 * MESSAGE_OVERHEAD + await off_loop(len(said), lambda: kit.tokenizer.count(said))
    learnt = await kit.store.read(owner_id, lambda unit: unit.calibrations.get(model.name), label="calibration.read")
    await check_credit(kit, owner_id, tokens_in=learnt.corrected(counted), tokens_out=tokens_out)


def tell_no_credit(unit: Unit, kit: Kit, conversation_id: str, error: NoCredit) -> None:
    """Tell the person, unless they were told and have not read it yet."""
    told = unit.notifications.page(before=None, limit=kit.limits.page_most, unread_only=True)
    if any(each.kind == NO_CREDIT for each in told):
        return
    about: dict[str, str | int | float] = {"conversation_id": conversation_id, **error.figures}
    unit.notifications.put(
        Notification(
            notification_id=NotificationId(kit.ids.new("ntf")),
            kind=NO_CREDIT,
            about=about,
            created_at=kit.clock.now(),
        )
    )
