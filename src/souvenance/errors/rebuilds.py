"""What stands in the way of writing a summary anew (S7, C4)."""

from __future__ import annotations

from souvenance.errors.standing import Conflict, Refused


class NothingToRebuild(Conflict):
    """No message of the conversation has left its window: there is no summary to be written anew."""

    code = "nothing_to_rebuild"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"Nothing to rebuild: nothing of conversation {conversation_id} is summarised or waits to be.",
            conversation_id=conversation_id,
        )


class RebuildRunning(Conflict):
    """A rebuild of this summary is on its way, or waits to be resumed."""

    code = "rebuild_running"

    def __init__(self, rebuild_id: str, state: str) -> None:
        super().__init__(
            f"Rebuild {rebuild_id} of this summary is {state}. Nothing was changed; resume it, start it over or "
            "cancel it.",
            rebuild_id=rebuild_id,
            state=state,
        )


class NoRebuildRuns(Conflict):
    """There is no rebuild of which this could be asked now."""

    code = "no_rebuild_runs"

    def __init__(self, conversation_id: str, *, verb: str, state: str) -> None:
        found = f"The last rebuild of conversation {conversation_id} is {state}"
        if state == "none":
            found = f"There was no rebuild of conversation {conversation_id} yet"
        super().__init__(
            f"{found}: there is nothing to {verb}.",
            conversation_id=conversation_id,
            state=state,
        )


class NoCredit(Refused):
    """What is known to be sent and the most that may come back is more than the credit that is left (C4)."""

    code = "no_credit"

    def __init__(self, *, tokens_in: int, tokens_out: int, left: int) -> None:
        super().__init__(
            f"This takes {tokens_in} tokens in and at most {tokens_out} out; of the credit (credit_tokens) {left} "
            "are left. Nothing was sent.",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            left=left,
        )
        self.figures = {"tokens_in": tokens_in, "tokens_out": tokens_out, "left": left}
