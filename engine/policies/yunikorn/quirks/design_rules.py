"""The rules of YuniKorn's design document. Each rule applies if the quirk that deviates from it is turned off.

Source: YuniKorn's design document "Preemption", read as docs/policies/fence.md says.
"""

from collections.abc import Iterable, Mapping

from engine.feasibility import NodeChecks
from engine.model.decision import NodeReason
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.common.queue_usage import UsageChange
from engine.policies.yunikorn.queue_balances import QueueBalances


def claims(tree: QueueTree, leaf: str, requests: Mapping[str, int]) -> dict[str, str]:
    """Return for each requested resource the queue whose guarantee is claimed: the nearest one upwards that has one.

    Source: rule 4 of YuniKorn's design document "Preemption", read for several resources and levels.
    """
    wanted = (name for name, amount in requests.items() if amount > 0)
    return {name: path for name in wanted if (path := tree.entitling(leaf, name)) is not None}


def entitled(balances: QueueBalances, leaf: str, requests: Mapping[str, int]) -> bool:
    """Return whether a guarantee is claimed and every claimed guarantee is not used up yet (invariant 4).

    Source: rule 4 of YuniKorn's design document "Preemption".
    """
    found = claims(balances.tree, leaf, requests)
    below = (balances.used(path, name) < balances.tree[path].guaranteed[name] for name, path in found.items())
    return bool(found) and all(below)


def count_leaving(balances: QueueBalances, snapshot: Snapshot) -> None:
    """Add terminating pods, and the capacity reserved for other pending pods, to the usage of their queues."""
    for pod in snapshot.pods:
        if pod.node is not None and pod.terminating and pod.queue is not None and pod.queue in balances.tree:
            balances.add(pod.queue, pod.requests)
    for held in snapshot.reservations:
        if held.queue in balances.tree:
            balances.add(held.queue, held.requests)


def within_max(balances: QueueBalances, ask: Pod, victims: Iterable[Pod]) -> bool:
    """Return whether the pending pod is within the max of its leaf and of every queue above without the victims."""
    gone = UsageChange.of_pods(balances.tree, (pod for pod in victims if pod.queue is not None))
    for path in balances.tree.lineage(ask.queue or ""):
        for name, most in balances.tree[path].max.items():
            wanted = ask.requests.get(name, 0)
            if wanted > 0 and balances.allocated[path].get(name, 0) - gone.of(path, name) + wanted > most:
                return False
    return True


def within_max_soon(balances: QueueBalances, ask: Pod) -> bool:
    """Return whether the pending pod is within the max of its leaf and every queue above without terminating pods."""
    return all(
        balances.used(path, name) + ask.requests[name] <= most
        for path in balances.tree.lineage(ask.queue or "")
        for name, most in balances.tree[path].max.items()
        if ask.requests.get(name, 0) > 0
    )


def kept_out(spot: NodeChecks, gone: Iterable[Pod]) -> bool:
    """Return whether something besides amounts keeps the pod off a node once these pods are gone.

    Source: the section on the preemption logic of YuniKorn's design document "Preemption": the pending pod is checked
    to fit on the node.
    """
    refused = spot.refusal([pod.uid for pod in gone])
    return refused is not None and refused.reason is not NodeReason.INSUFFICIENT
