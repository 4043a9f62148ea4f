"""Explains in words why the pods of a node may be evicted one by one but not together."""

from engine.model.decision import Decision, JointLimit
from engine.model.message import (
    Message,
    Name,
    Param,
    amount,
    format_amount_list,
    gettext_noop,
    ngettext_noop,
    plural_message,
    short_name,
)
from engine.model.quantities import format_amount

NODE_GUARANTEE = gettext_noop(
    "room needs all %(count)s of its pods that can be preempted, but %(queue)s can lose only %(left)s of "
    "the %(held)s they use: it uses %(used)s with a guarantee of %(guaranteed)s"
)
NODE_BUDGET = ngettext_noop(
    "room needs all of its pods that can be preempted, but the disruption budget %(budget)s allows only "
    "%(count)s eviction",
    "room needs all of its pods that can be preempted, but the disruption budget %(budget)s allows only "
    "%(count)s evictions",
)
REASON_GUARANTEE = gettext_noop(
    "No node can free %(asked)s: too few pods can be preempted together. On %(node)s, %(queue)s can lose "
    "only %(left)s of %(held)s, because it uses %(used)s with a guarantee of %(guaranteed)s."
)
REASON_BUDGET = ngettext_noop(
    "No node can free %(asked)s: too few pods can be preempted together. On %(node)s, the disruption "
    "budget %(budget)s allows only %(count)s eviction.",
    "No node can free %(asked)s: too few pods can be preempted together. On %(node)s, the disruption "
    "budget %(budget)s allows only %(count)s evictions.",
)
TIER_GUARANTEE = gettext_noop(
    "No node has room, and no pods can be preempted together to make it. On %(node)s, %(queue)s can lose "
    "only %(left)s of %(held)s, because it uses %(used)s with a guarantee of %(guaranteed)s."
)
TIER_BUDGET = ngettext_noop(
    "No node has room, and no pods can be preempted together to make it. On %(node)s, the disruption "
    "budget %(budget)s allows only %(count)s eviction.",
    "No node has room, and no pods can be preempted together to make it. On %(node)s, the disruption "
    "budget %(budget)s allows only %(count)s evictions.",
)


def limited_node(limit: JointLimit, candidates: int) -> Message:
    """Return why a node was not chosen, although ``candidates`` pods there may be evicted one by one."""
    count = {"count": str(candidates)} if limit.queue else {}
    return _limit_message(limit, NODE_GUARANTEE, NODE_BUDGET, **count)


def limited_decision(decision: Decision) -> Message | None:
    """Return why no pod is evicted, for the first node where pods together would make room; None: no such node."""
    first = next((verdict for verdict in decision.trace.nodes if verdict.limit), None)
    if first is None or not first.limit:
        return None
    requests = {name: value for name, value in decision.ask.requests.items() if value > 0}
    return _limit_message(
        first.limit, REASON_GUARANTEE, REASON_BUDGET, asked=format_amount_list(requests), node=Name(first.node)
    )


def limited_tier(limit: JointLimit, node: str) -> Message:
    """Return why a pending pod waits for a node."""
    return _limit_message(limit, TIER_GUARANTEE, TIER_BUDGET, node=Name(node))


def _limit_message(limit: JointLimit, guarantee: str, budget: tuple[str, str], **params: Param) -> Message:
    if not limit.queue:
        return plural_message(budget, limit.left, budget=Name(limit.budget), **params)
    amounts: dict[str, Param] = {
        "queue": short_name(limit.queue),
        "left": amount(limit.resource, limit.left),
        "held": format_amount(limit.resource, limit.held),
        "used": format_amount(limit.resource, limit.used),
        "guaranteed": format_amount(limit.resource, limit.guaranteed),
    }
    return Message(guarantee, {**params, **amounts})
