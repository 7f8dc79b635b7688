"""A notification as a sentence for the person whom it tells."""

from __future__ import annotations

from string import Formatter

from souvenance.domain.notification import Notification

_SENTENCES = {
    "rules_full": "The rules of {conversation_id} take {tokens} tokens, more than the {limit} that they may: "
    "`souvenance summary rules list {conversation_id}` shows which there are to retire.",
    "work_parked": "Background work ({kind}) of {conversation_id} failed {failures} times, at last with {reason}: "
    "`souvenance work restart {kind} {conversation_id}` starts it again.",
    "rebuild_done": "The summary of {conversation_id} was written anew at level {level}: {nodes} nodes, for "
    "{tokens_in} tokens in and {tokens_out} out; {edited_discarded} edited nodes were discarded.",
    "rebuild_failed": "The rebuild of the summary of {conversation_id} stopped after {steps} of about "
    "{steps_estimated} steps with {reason}: `souvenance summary rebuild {conversation_id} resume` goes on.",
    "no_credit": "The summary of {conversation_id} waits for credit: its next question takes {tokens_in} tokens in and "
    "at most {tokens_out} out, and {left} are left of `credit_tokens`.",
}


def words_of(notification: Notification) -> str:
    """The sentence of its kind, else the kind's own word; ids and figures that are not in it follow."""
    about, sentence = notification.about, _SENTENCES.get(notification.kind, "")
    named = {name for _, name, _, _ in Formatter().parse(sentence) if name}
    told = bool(sentence) and named <= about.keys()
    words = sentence.format_map(about) if told else notification.kind
    more = ", ".join(f"{name} {figure}" for name, figure in about.items() if not (told and name in named))
    return f"{words} ({more})" if more else words
