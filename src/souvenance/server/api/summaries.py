"""A conversation's summary: read, open, correct, and the rules that hold in it (S4, S6, S8, S9)."""

from __future__ import annotations

from fastapi import APIRouter

from souvenance.app import change_rules
from souvenance.app.change_level import change_level
from souvenance.app.edit_node import NodeEdit, edit_node
from souvenance.app.read_summary import open_node, read_summary
from souvenance.app.settle_stale import settle_stale
from souvenance.domain.ids import NodeId, RuleId, known_shape
from souvenance.server.api.conversations import conversation_id_of
from souvenance.server.caller import Here
from souvenance.server.forms import LevelForm
from souvenance.server.forms_of_summaries import DecisionForm, InForceForm, NewRuleForm, NodeForm, RuleForm
from souvenance.server.views.summaries import LevelChangedJson, NodeJson, OpenedNodeJson, RuleJson, SummaryJson

router = APIRouter(prefix="/conversations/{conversation_id}/summary", tags=["summaries"])


@router.get("")
async def read(here: Here, conversation_id: str) -> SummaryJson:
    """All tiers, the rules, what is in the window, what waits, and whether deeper memory is active."""
    view = await read_summary(here.kit, here.owner_id, conversation_id_of(conversation_id))
    return SummaryJson.of(view, rules_limit=here.kit.limits.rules_tokens)


@router.put("/level")
async def level(here: Here, conversation_id: str, form: LevelForm) -> LevelChangedJson:
    """From the next message on, for all conversations with its bot; says whether a rebuild is on offer (W3, S8)."""
    changed = await change_level(here.kit, here.owner_id, conversation_id_of(conversation_id), form.level)
    return LevelChangedJson.of(changed)


@router.get("/nodes/{node_id}")
async def open_(here: Here, conversation_id: str, node_id: str) -> OpenedNodeJson:
    """A node with the text of each that it was made of."""
    opened = await open_node(here.kit, here.owner_id, conversation_id_of(conversation_id), _node_id(node_id))
    return OpenedNodeJson.of(opened)


@router.put("/nodes/{node_id}")
async def edit(here: Here, conversation_id: str, node_id: str, form: NodeForm) -> NodeJson:
    """What you write is what later merges are made of; 409 with both texts when it was changed meanwhile."""
    edited = NodeEdit(text=form.text, seen=form.seen)
    where = conversation_id_of(conversation_id)
    return NodeJson.of(await edit_node(here.kit, here.owner_id, where, _node_id(node_id), edited))


@router.post("/nodes/{node_id}/decision")
async def settle(here: Here, conversation_id: str, node_id: str, form: DecisionForm) -> NodeJson:
    """Of an edited node whose messages changed since: `keep` it as it is, or let it be `rewrite`n (S9)."""
    where = conversation_id_of(conversation_id)
    settled = await settle_stale(here.kit, here.owner_id, where, _node_id(node_id), form.decision, seen=form.seen)
    return NodeJson.of(settled)


@router.post("/rules", status_code=201)
async def add_rule(here: Here, conversation_id: str, form: NewRuleForm) -> RuleJson:
    """A rule in your own words; one that is there already is in force again."""
    where = conversation_id_of(conversation_id)
    return RuleJson.of(await change_rules.add_rule(here.kit, here.owner_id, where, form.text))


@router.put("/rules/{rule_id}")
async def edit_rule(here: Here, conversation_id: str, rule_id: str, form: RuleForm) -> RuleJson:
    """Carried on exactly as you write it; 409 with both texts when it says something else by now."""
    where = conversation_id_of(conversation_id)
    edited = await change_rules.edit_rule(here.kit, here.owner_id, where, _rule_id(rule_id), form.text, was=form.was)
    return RuleJson.of(edited)


@router.put("/rules/{rule_id}/in-force")
async def put_in_force(here: Here, conversation_id: str, rule_id: str, form: InForceForm) -> RuleJson:
    """`false` retires it, from the next prompt on; `true` reopens one that was retired or taken back."""
    change = change_rules.reopen_rule if form.in_force else change_rules.retire_rule
    where = conversation_id_of(conversation_id)
    return RuleJson.of(await change(here.kit, here.owner_id, where, _rule_id(rule_id)))


@router.delete("/rules/{rule_id}", status_code=204)
async def remove_rule(here: Here, conversation_id: str, rule_id: str) -> None:
    """Forgets it; said again it is a rule again."""
    where = conversation_id_of(conversation_id)
    await change_rules.remove_rule(here.kit, here.owner_id, where, _rule_id(rule_id))


def _node_id(raw: str) -> NodeId:
    return NodeId(known_shape("node", raw))


def _rule_id(raw: str) -> RuleId:
    return RuleId(known_shape("rule", raw))
