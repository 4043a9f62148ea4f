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


def reclaimed(seen: Observed) -> bool:
    """Return whether Volcano evicted by the action ``reclaim``, the only one that is implemented here."""
    return all(one.why == _RECLAIM for one in seen.victims)


def replay_volcano(seen: Observed, past: ClusterState, tree: QueueTree) -> Observed:
    """Return the decision with what a session of Volcano decides; unchanged if Volcano's configuration is not known.

    Volcano looks at nodes, and at the pods of a node, in random order: ``seen`` shows which order it was.
    """
    cluster = past.volcano_session()
    if cluster is None:
        return seen
    if _work(cluster) > _MOST:
        return msgspec.structs.replace(seen, untold=NotReplayedReason.TOO_MANY)
    at = _Placing(past.snapshot(tree, now_ms=seen.at_ms))
    try:
        chance = FirstConsidered(node=seen.node, pods=frozenset(one.pod.uid for one in seen.victims))
        turns = volcano.reclaim(cluster, chance=chance, may_run=at.may_run)
    except HierarchyError:  # with these queues, Volcano does not decide either
        return seen
    told = _as_decision(_there([turn for turn in turns if turn.victims], seen.node), cluster)
    return msgspec.structs.replace(seen, hindsight=DecisionReplay(decision=told, nodes=len(past.nodes)), untold=None)


def _work(cluster: VolcanoCluster) -> int:
    standing = Counter(one.task for one in cluster.pods if one.group)
    return standing[Task.PENDING] * standing[Task.RUNNING]


def _there(turns: list[Reclaim], node: str) -> list[Reclaim]:
    """Return the turns that take pods from the node, or else from the first node from which any turn takes pods."""
    return [turn for turn in turns if turn.node == node] or [turn for turn in turns if turn.node == turns[0].node]


def _as_decision(turns: list[Reclaim], cluster: VolcanoCluster) -> Decision:
    """Return the evictions on one node as a decision for the first pod that gets room, ``together`` with the rest."""
    asks = [PodFacts.of(turn.ask.pod) for turn in turns]
    return Decision(
        policy=deserved.POLICY,
        dialect=volcano.DIALECT,
        ask=asks[0] if asks else _NOBODY,
        together=tuple(asks[1:]),
        outcome=Outcome.PREEMPT if turns else Outcome.NO_CANDIDATE,
        reason=Reason.BELOW_DESERVED if turns else Reason.NO_CANDIDATES,
        detail=", ".join(dict.fromkeys(cluster.groups[turn.ask.group].queue for turn in turns)),
        node=turns[0].node if turns else None,
        victims=tuple(
            PodVerdict(pod=PodFacts.of(one.pod), reason=PodReason.OVER_DESERVED, detail=cluster.groups[one.group].queue)
            for turn in turns
            for one in turn.victims
        ),
    )


_NOBODY = PodFacts(uid="", namespace="", name="", queue="", application="", priority=0, requests={})


class _Placing:
    """Which pods may run on which nodes, if no other pods were there."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._asks = {pod.uid: pod for pod in snapshot.asks}
        self._known: dict[str, Feasibility] = {}

    def may_run(self, ask: VolcanoPod, node: str) -> bool:
        """Return whether a pod may run on a node, as far as the checks that are implemented here can determine."""
        pod, place = self._asks.get(ask.pod.uid), self._snapshot.columns.place.get(node)
        if pod is None or place is None:
            return False
        if pod.uid not in self._known:
            self._known[pod.uid] = Feasibility(self._snapshot, pod)
        others = [one.uid for one in self._snapshot.pods_by_node.get(node, ())]
        return self._known[pod.uid].on(place).refusal(others) is None
