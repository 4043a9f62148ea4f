"""Policy ``priority`` the long way round: node by node, pod by pod, as kube-scheduler's documents tell it.

It shares with engine.policies.priority nothing but what a selector means.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from engine.feasibility import matches, unsupported_rules
from engine.feasibility.node_rules import contradictory, first_unbound_claim
from engine.feasibility.plain import refusal
from engine.model.decision import Outcome
from engine.model.objects import Node, Pod
from engine.model.snapshot import Snapshot


class OnNode(msgspec.Struct, frozen=True, kw_only=True):
    """The victims on a node, most important first, those put back in that order, and how many violate a budget."""

    node: Node
    victims: tuple[Pod, ...]
    stayed: tuple[Pod, ...]
    violations: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    outcome: Outcome
    node: str | None = None
    victims: tuple[str, ...] = ()
    fits_on: tuple[str, ...] = ()
    candidates: tuple[OnNode, ...] = ()


def decide(snapshot: Snapshot, ask: Pod) -> Answer:
    """Which pods are to go for the ask, on which node."""
    if unsupported_rules(snapshot, ask):
        return Answer(outcome=Outcome.NOT_ELIGIBLE)
    if first_unbound_claim(snapshot, ask) is not None or contradictory(ask):
        return Answer(outcome=Outcome.NO_CANDIDATE)
    told = {node.name: refusal(snapshot, ask, node, miscounting=True) for node in snapshot.nodes}
    kept = {held.node for held in snapshot.reservations}
    fits = tuple(name for name, why in told.items() if why is None and name not in kept)
    if fits:
        node = ask.nominated_node if ask.nominated_node in fits else fits[0]
        return Answer(outcome=Outcome.FITS, node=node, fits_on=fits)
    if ask.never_preempts or _waits(snapshot, ask, told.get(ask.nominated_node)):
        return Answer(outcome=Outcome.NOT_ELIGIBLE)
    curable = [node for node in snapshot.nodes if (why := told[node.name]) and why.curable and node.name not in kept]
    found = tuple(one for node in curable if (one := _on(snapshot, ask, node)) is not None)
    if not found:
        return Answer(outcome=Outcome.NO_CANDIDATE)
    best = min(found, key=lambda one: _cost(snapshot, one))
    victims = tuple(pod.key for pod in best.victims)
    return Answer(outcome=Outcome.PREEMPT, node=best.node.name, victims=victims, candidates=found)


def _waits(snapshot: Snapshot, ask: Pod, told: Any) -> bool:
    if told is None or not told.curable:
        return False
    there = snapshot.pods_by_node[ask.nominated_node]
    lower = [pod for pod in there if pod.priority < ask.priority]
    return any(pod.terminating and pod.disruption == "PreemptionByScheduler" for pod in lower)


def _on(snapshot: Snapshot, ask: Pod, node: Node) -> OnNode | None:
    there = [pod for pod in snapshot.pods_by_node[node.name] if pod.priority < ask.priority and not pod.shield]
    there.sort(key=lambda pod: (-pod.priority, _started(snapshot, pod)))
    gone = {pod.uid for pod in there}
    if not there or refusal(snapshot, ask, node, gone, miscounting=True) is not None:
        return None
    violating = _violating(snapshot, there)
    stayed = []
    for pod in sorted(there, key=lambda pod: pod.uid not in violating):
        if refusal(snapshot, ask, node, gone - {pod.uid}, miscounting=True) is None:
            gone.remove(pod.uid)
            stayed.append(pod)
    victims = tuple(pod for pod in there if pod.uid in gone)
    violations = len(violating & gone)
    return OnNode(node=node, victims=victims, stayed=tuple(stayed), violations=violations) if victims else None


def _violating(snapshot: Snapshot, pods: Iterable[Pod]) -> set[str]:
    left = [budget.allowed for budget in snapshot.budgets]
    found = set()
    for pod in pods:
        for number, budget in enumerate(snapshot.budgets):
            covered = budget.namespace == pod.namespace and pod.labels and budget.expressions
            if covered and matches(budget.expressions, pod.labels) and pod.name not in budget.disrupted:
                left[number] -= 1
                if left[number] < 0:
                    found.add(pod.uid)
    return found


def _started(snapshot: Snapshot, pod: Pod) -> int:
    return snapshot.now_ms if pod.started_ms is None else pod.started_ms


def _cost(snapshot: Snapshot, one: OnNode) -> tuple[int, int, int, int, int, str]:
    highest = max(pod.priority for pod in one.victims)
    return (
        one.violations,
        highest,
        sum(pod.priority + 2**31 for pod in one.victims),
        len(one.victims),
        -min(_started(snapshot, pod) for pod in one.victims if pod.priority == highest),
        one.node.name,
    )
