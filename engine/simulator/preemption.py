"""What the simulated kube-scheduler evicts by itself when a pod finds no node: pods of lower priority, on one node."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.feasibility import matches
from engine.simulator.filters import Rejection, listed
from engine.snapshot import DisruptionBudget, Node, Pod

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."

Fits = Callable[[Pod, Node, Sequence[Pod]], Rejection | None]
"""Why a pod can't run on a node beside certain pods and the nominated ones, None when it can."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node, the pods that would have to leave it (most important first) and how many of them a budget protects."""

    node: str
    victims: tuple[Pod, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The candidate chosen; without one the sentence that says why not, and whether the ask was looked at at all."""

    candidate: Candidate | None
    message: str = ""
    eligible: bool = True


def preempt(
    pod: Pod,
    rejections: Mapping[str, Rejection],
    nodes: Mapping[str, Node],
    pods_on: Callable[[str], Sequence[Pod]],
    budgets: Iterable[DisruptionBudget],
    fits: Fits,
    preempted: Callable[[Pod], bool],
) -> Finding:
    """Find whom to evict for `pod`, which every node turned down for the reasons given.

    `preempted` tells whether a pod is on its way out because of an earlier preemption. Source: kube-scheduler's
    DefaultPreemption, looking at all nodes.
    """
    if pod.never_preempts:
        return Finding(None, NEVER, eligible=False)
    if _waits_already(pod, rejections, pods_on, preempted):
        return Finding(None, TERMINATING, eligible=False)
    limits, found = tuple(budgets), []
    counts: dict[str, int] = {}
    for name, rejection in rejections.items():
        if not rejection.curable:
            counts[NOT_HELPFUL] = counts.get(NOT_HELPFUL, 0) + 1
            continue
        outcome = _on_node(pod, nodes[name], pods_on(name), limits, fits)
        if isinstance(outcome, Candidate):
            found.append(outcome)
        else:
            for reason in outcome:
                counts[reason] = counts.get(reason, 0) + 1
    if found:
        return Finding(min(found, key=_cost))
    return Finding(None, f"0/{len(rejections)} nodes are available: {listed(counts)}.")


def _waits_already(
    pod: Pod,
    rejections: Mapping[str, Rejection],
    pods_on: Callable[[str], Sequence[Pod]],
    preempted: Callable[[Pod], bool],
) -> bool:
    """Tell whether room is being made for the pod where it is nominated; a node ruled out for good does not count."""
    rejection = rejections.get(pod.nominated_node)
    if rejection is None or not rejection.curable:
        return False
    leaving = (other for other in pods_on(pod.nominated_node) if other.terminating and other.priority < pod.priority)
    return any(preempted(other) for other in leaving)


def _on_node(
    pod: Pod, node: Node, present: Sequence[Pod], budgets: Sequence[DisruptionBudget], fits: Fits
) -> Candidate | tuple[str, ...]:
    lower = sorted((other for other in present if other.priority < pod.priority), key=_importance)
    if not lower:
        return (NO_VICTIMS,)
    staying = [other for other in present if other.priority >= pod.priority]
    rejection = fits(pod, node, staying)
    if rejection is not None:
        return rejection.reasons
    protected, free = _split(lower, budgets)
    victims: list[Pod] = []
    for other in (*protected, *free):
        if fits(pod, node, [*staying, other]) is None:
            staying.append(other)
        else:
            victims.append(other)
    violations = sum(1 for other in protected if other in victims)
    return Candidate(node.name, tuple(sorted(victims, key=_importance)), violations)


def _importance(pod: Pod) -> tuple[int, float, str]:
    return -pod.priority, _started(pod), pod.name


def _started(pod: Pod) -> float:
    """Return when a pod was started; one that was not counts as started now."""
    return float("inf") if pod.started_ms is None else pod.started_ms


def _split(pods: Sequence[Pod], budgets: Sequence[DisruptionBudget]) -> tuple[list[Pod], list[Pod]]:
    """Return those that a budget protects and those that it does not, in order; each one seen is charged."""
    left = {(budget.namespace, budget.name): budget.allowed for budget in budgets}
    protected: list[Pod] = []
    free: list[Pod] = []
    for pod in pods:
        violating = False
        for budget in budgets:
            if budget.namespace == pod.namespace and budget.expressions and matches(budget.expressions, pod.labels):
                left[budget.namespace, budget.name] -= 1
                violating = violating or left[budget.namespace, budget.name] < 0
        (protected if violating else free).append(pod)
    return protected, free


def _cost(candidate: Candidate) -> tuple[int, int, int, int, float, str]:
    highest = candidate.victims[0].priority if candidate.victims else -(2**31)
    earliest = min((_started(pod) for pod in candidate.victims if pod.priority == highest), default=0.0)
    return (
        candidate.violations,
        highest,
        sum(pod.priority + 2**31 for pod in candidate.victims),
        len(candidate.victims),
        -earliest,
        candidate.node,
    )
