"""A sixth policy, in the tests alone: the pod that waits longest may evict the youngest pods of lower priority.

It is one ``Policy`` object. That deciding, auditing, explaining and planning work for it shows that nothing else in the
engine names policies.
"""

from collections.abc import Iterator
from functools import partial

import msgspec

from engine.audit import AuditTerms
from engine.audit.priority import INVARIANTS
from engine.feasibility.plain import refusal
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.message import gettext_noop
from engine.model.objects import Node, Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies import Decide, Policy, PolicyTexts
from engine.policies.common.counterfactuals import changes_of_request, changes_of_victim
from engine.policies.common.policy import Counterfactuals
from engine.tree.lint.rules import LintRules
from engine.tree.reach import BY_PRIORITIES

NAME, DIALECT = "fifo", "plain"


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a revision may set for this policy."""

    strict: bool = True
    """Whether only the pod that waits longest may preempt."""


def decide(snapshot: Snapshot, _tree: QueueTree, ask: Pod, parameters: Parameters) -> Decision:
    """Return which pods are evicted for the pending pod, or why none are."""
    snapshot = snapshot.without_reservation(ask.uid)
    for node in snapshot.nodes:
        if refusal(snapshot, ask, node) is None:
            return _answer(ask, Outcome.FITS, Reason.FITS, node.name)
    if parameters.strict and any(other.created_ms < ask.created_ms for other in snapshot.asks):
        return _answer(ask, Outcome.NOT_ELIGIBLE, Reason.DELAY)
    sets = [(node, tuple(_victims(snapshot, ask, node))) for node in snapshot.nodes]
    sets = [(node, victims) for node, victims in sets if victims]
    if not sets:
        return _answer(ask, Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES)
    node, victims = min(sets, key=lambda one: (len(one[1]), one[0].name))
    return _answer(ask, Outcome.PREEMPT, Reason.LOWER_PRIORITY, node.name, victims)


def _victims(snapshot: Snapshot, ask: Pod, node: Node) -> Iterator[Pod]:
    """Yield the youngest pods that make room on a node, those that turn out not to be needed left out."""
    here = (pod for pod in snapshot.pods if pod.node == node.name and pod.priority < ask.priority and not pod.shield)
    youngest = sorted(here, key=lambda pod: (-(pod.started_ms or 0), pod.name))
    gone: list[Pod] = []
    while youngest and refusal(snapshot, ask, node, [pod.uid for pod in gone]) is not None:
        gone.append(youngest.pop(0))
    if refusal(snapshot, ask, node, [pod.uid for pod in gone]) is not None:
        return
    for pod in gone[::-1]:
        rest = [other.uid for other in gone if other is not pod]
        if refusal(snapshot, ask, node, rest) is None:
            gone.remove(pod)
    yield from gone


def _answer(
    ask: Pod, outcome: Outcome, reason: Reason, node: str | None = None, victims: tuple[Pod, ...] = ()
) -> Decision:
    return Decision(
        policy=NAME,
        dialect=DIALECT,
        ask=PodFacts.of(ask),
        outcome=outcome,
        reason=reason,
        node=node,
        victims=tuple(PodVerdict(pod=PodFacts.of(pod), reason=PodReason.LOWER_PRIORITY) for pod in victims),
    )


def _decider(parameters: Parameters) -> Decide:
    return lambda snapshot, tree, ask: decide(snapshot, tree, ask, parameters)


FIFO = Policy(
    name=NAME,
    dialect=DIALECT,
    parameters=Parameters,
    decider=_decider,
    audit_terms=lambda _parameters: AuditTerms(),
    invariants=INVARIANTS,
    reach=lambda _parameters: BY_PRIORITIES,
    lint=LintRules(
        policy=NAME,
        flavors=False,
        lending=None,
        amounts=False,
        claims=False,
        quotas=False,
        yunikorn_decides=False,
        yunikorn_alike=False,
    ),
    by_tree=False,
    pending_tiers=None,
    counterfactuals=Counterfactuals(of_ask=changes_of_request, of_victim=partial(changes_of_victim, weights=False)),
    optimum=None,
    shares=None,
    texts=PolicyTexts(
        summary="The pod that waits longest takes from the youngest.",
        dialect="The only one.",
        reach="Whether anything is evicted depends on the pods alone.",
        reasons={Reason.LOWER_PRIORITY: gettext_noop("It waits longest, so the youngest pods make room.")},
        pod_labels={PodReason.LOWER_PRIORITY: gettext_noop("youngest")},
        pods={},
        laws={},
        broken={},
    ),
    foreign=False,
    by_quota=False,
    inherits_delay=False,
    within_quotas=False,
    guarded=False,
)
