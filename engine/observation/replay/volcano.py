"""Replay what Volcano reclaimed, by its own rules, on its queues just before, and find for which pods it did."""

from collections import Counter

import msgspec

from engine.feasibility import Feasibility
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.objects import Task, VolcanoCluster, VolcanoPod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.observation.evictions import DecisionReplay, NotReplayedReason, Observed
from engine.policies import deserved, volcano
from engine.policies.volcano import FirstConsidered, HierarchyError, Reclaim

_RECLAIM = "reclaim"
_MOST = 25_000
"""Number of pairs of pending and running pods in a session that can be evaluated in a few seconds at worst."""


def reclaimed(observed: Observed) -> bool:
    """Return whether Volcano evicted by the action ``reclaim``, the only one that is implemented here."""
    return all(victim.why == _RECLAIM for victim in observed.victims)


def replay_volcano(observed: Observed, past: ClusterState, tree: QueueTree) -> Observed:
    """Return the decision with what a session of Volcano decides; unchanged if Volcano's configuration is not known.

    Volcano looks at nodes, and at the pods of a node, in random order: ``observed`` shows which order it was.
    """
    cluster = past.volcano_session()
    if cluster is None:
        return observed
    if _work(cluster) > _MOST:
        return msgspec.structs.replace(observed, untold=NotReplayedReason.TOO_MANY)
    at = _Placing(past.snapshot(tree, now_ms=observed.at_ms))
    try:
        chance = FirstConsidered(node=observed.node, pods=frozenset(victim.pod.uid for victim in observed.victims))
        turns = volcano.reclaim(cluster, chance=chance, may_run=at.may_run)
    except HierarchyError:  # with these queues, Volcano does not decide either
        return observed
    decision = _as_decision(_turns_on_node([turn for turn in turns if turn.victims], observed.node), cluster)
    return msgspec.structs.replace(
        observed, hindsight=DecisionReplay(decision=decision, nodes=len(past.nodes)), untold=None
    )


def _work(cluster: VolcanoCluster) -> int:
    tasks = Counter(pod.task for pod in cluster.pods if pod.group)
    return tasks[Task.PENDING] * tasks[Task.RUNNING]


def _turns_on_node(turns: list[Reclaim], node: str) -> list[Reclaim]:
    """Return the turns that take pods from the node, or else from the first node from which any turn takes pods."""
    return [turn for turn in turns if turn.node == node] or [turn for turn in turns if turn.node == turns[0].node]


def _as_decision(turns: list[Reclaim], cluster: VolcanoCluster) -> Decision:
    """Return the evictions on one node as a decision for the first pod that gets room, ``together`` with the rest."""
    preemptors = [PodFacts.of(turn.ask.pod) for turn in turns]
    return Decision(
        policy=deserved.POLICY,
        dialect=volcano.DIALECT,
        ask=preemptors[0] if preemptors else _NOBODY,
        together=tuple(preemptors[1:]),
        outcome=Outcome.PREEMPT if turns else Outcome.NO_CANDIDATE,
        reason=Reason.BELOW_DESERVED if turns else Reason.NO_CANDIDATES,
        detail=", ".join(dict.fromkeys(cluster.groups[turn.ask.group].queue for turn in turns)),
        node=turns[0].node if turns else None,
        victims=tuple(
            PodVerdict(
                pod=PodFacts.of(victim.pod), reason=PodReason.OVER_DESERVED, detail=cluster.groups[victim.group].queue
            )
            for turn in turns
            for victim in turn.victims
        ),
    )


_NOBODY = PodFacts(uid="", namespace="", name="", queue="", application="", priority=0, requests={})


class _Placing:
    """Which pods may run on which nodes, if no other pods were there."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._pending = {pod.uid: pod for pod in snapshot.asks}
        self._known: dict[str, Feasibility] = {}

    def may_run(self, task: VolcanoPod, node: str) -> bool:
        """Return whether a pod may run on a node, as far as the checks that are implemented here can determine."""
        pod, place = self._pending.get(task.pod.uid), self._snapshot.columns.place.get(node)
        if pod is None or place is None:
            return False
        if pod.uid not in self._known:
            self._known[pod.uid] = Feasibility(self._snapshot, pod)
        others = [other.uid for other in self._snapshot.pods_by_node.get(node, ())]
        return self._known[pod.uid].on(place).refusal(others) is None
