"""A person changes the rules of a conversation; they are carried on exactly as they are written (S4, S6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from souvenance.app.keep_rules import in_force_tokens, tell_when_full, tokens_of_rules
from souvenance.app.kit import Kit
from souvenance.domain.conversation import Conversation
from souvenance.domain.ids import ConversationId, OwnerId, RuleId
from souvenance.domain.summary import FoundBy, Rule, Source, Spot
from souvenance.domain.text import clean
from souvenance.errors import Conflict, NotFound
from souvenance.ports.store import Unit


async def add_rule(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, text: str) -> Rule:
    """The rule in force, of at most `rule_characters` on one line. One that is there already, white space apart, gains
    a source and is in force again. Past the budget of rules a notification asks which to retire, as for the next two.
    """
    text, rule_id = _checked(kit, text), RuleId(kit.ids.new("rul"))

    def change(unit: Unit, conversation: Conversation) -> Rule:
        there = unit.summaries.rule_of_text(conversation_id, text)
        if there is not None:
            return _save(unit, there, _said_again(there, conversation))
        rule = Rule(
            rule_id=rule_id,
            conversation_id=conversation_id,
            text=text,
            sources=(_by_hand(conversation),),
            found_by=FoundBy.PERSON,
            place=max((rule.place for rule in unit.summaries.rules(conversation_id)), default=0) + 1,
        )
        unit.summaries.put_rule(rule)
        return rule

    return await _changed(kit, owner_id, conversation_id, change, text=text, label="rule.added")


async def edit_rule(
    kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, rule_id: RuleId, text: str, *, was: str
) -> Rule:
    """The rule in a person's words from now on; `was` is what it said when it was read.

    Raises Conflict with both texts when it says something else by now, or when another rule says this; NotFound.
    """
    text = _checked(kit, text)

    def change(unit: Unit, _: Conversation) -> Rule:
        rule = _rule(unit, conversation_id, rule_id)
        if rule.text != was:
            message = f"Rule {rule_id} says something else by now. Nothing was changed."
            raise Conflict(message, id=rule_id, theirs=rule.text, yours=text)
        twin = unit.summaries.rule_of_text(conversation_id, text)
        if twin is not None and twin.rule_id != rule_id:
            raise Conflict(f"Rule {twin.rule_id} says the same already.", id=twin.rule_id, text=twin.text)
        changed = rule if text == rule.text else replace(rule, text=text, found_by=FoundBy.PERSON)
        return _save(unit, rule, changed)

    return await _changed(kit, owner_id, conversation_id, change, text=text, label="rule.edited")


async def reopen_rule(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, rule_id: RuleId) -> Rule:
    """The rule in force again, whether it was retired or taken back; heard again, the same words of long ago do not
    take it back a second time.
    """

    def change(unit: Unit, conversation: Conversation) -> Rule:
        rule = _rule(unit, conversation_id, rule_id)
        taken_back = rule.closed_by is not None
        return _save(unit, rule, _said_again(rule, conversation) if taken_back else replace(rule, retired=False))

    return await _changed(kit, owner_id, conversation_id, change, label="rule.reopened")


async def retire_rule(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, rule_id: RuleId) -> Rule:
    """The rule, no longer in force and in no prompt, however often it is said again, until it is reopened."""

    def work(unit: Unit) -> Rule:
        unit.conversations.lock(conversation_id)
        rule = _rule(unit, conversation_id, rule_id)
        return _save(unit, rule, replace(rule, retired=True))

    return await kit.store.write(owner_id, work, label="rule.retired")


async def remove_rule(kit: Kit, owner_id: OwnerId, conversation_id: ConversationId, rule_id: RuleId) -> None:
    """Forget the rule; said again, or found again by a rebuild, it is a rule again."""

    def work(unit: Unit) -> None:
        unit.conversations.lock(conversation_id)
        unit.summaries.remove_rules(conversation_id, [_rule(unit, conversation_id, rule_id).rule_id])

    await kit.store.write(owner_id, work, label="rule.removed")


async def _changed(
    kit: Kit,
    owner_id: OwnerId,
    conversation_id: ConversationId,
    change: Callable[[Unit, Conversation], Rule],
    *,
    text: str = "",
    label: str,
) -> Rule:
    """The rule as `change` leaves it in one write, with the conversation held; `text` is what it may say then."""
    rules = await kit.store.read(owner_id, lambda unit: unit.summaries.rules(conversation_id), label="rules.read")
    tokens = tokens_of_rules(kit, [text, *(rule.text for rule in rules)])
    now = kit.clock.now()

    def work(unit: Unit) -> Rule:
        conversation = unit.conversations.lock(conversation_id)
        before = in_force_tokens(unit.summaries.rules(conversation_id), tokens)
        rule = change(unit, conversation)
        tell_when_full(unit, kit, conversation_id, tokens, before=before, at=now)
        return rule

    return await kit.store.write(owner_id, work, label=label)


def _checked(kit: Kit, text: str) -> str:
    return clean("text", text.strip(), limit=kit.limits.rule_characters, keep_breaks=False)


def _rule(unit: Unit, conversation_id: ConversationId, rule_id: RuleId) -> Rule:
    found = next((rule for rule in unit.summaries.rules(conversation_id) if rule.rule_id == rule_id), None)
    if found is None:
        raise NotFound("rule", rule_id)
    return found


def _save(unit: Unit, rule: Rule, changed: Rule) -> Rule:
    if changed != rule:
        unit.summaries.save_rule(changed)
    return changed


def _by_hand(conversation: Conversation) -> Source:
    return Source(message_id=None, spot=Spot(max(0, conversation.last_position), 0))


def _said_again(rule: Rule, conversation: Conversation) -> Rule:
    added = any(source.message_id is None for source in rule.sources)
    sources = rule.sources if added else (*rule.sources, _by_hand(conversation))
    return replace(rule, sources=sources, retired=False, closed_by=None)
