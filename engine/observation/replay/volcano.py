"""What Volcano reclaimed, decided again by its own rules on its queues as they were just before: also for whom."""

from collections import Counter

import msgspec

from engine.feasibility import Feasibility
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.objects import Task, VolcanoCluster, VolcanoPod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Snapshot
from engine.observation.evictions import Hindsight, Observed, Untold
from engine.policies import deserved, volcano
from engine.policies.volcano import FirstConsidered, HierarchyError, Reclaim

_RECLAIM = "reclaim"
_MOST = 25_000
"""So many pods, over all that ask in a session, are looked at in a few seconds at worst."""


def reclaimed(seen: Observed) -> bool:
    """Whether it was the action of Volcano's that is built in here."""
    return all(one.why == _RECLAIM for one in seen.victims)


def decided(seen: Observed, past: ClusterState, tree: QueueTree) -> Observed:
    """The same with what a session of Volcano's decides; as it is where how it is set is not known.

    In which order Volcano looks at nodes, and at the pods of one, is chance: ``seen`` shows how it fell.
    """
    cluster = past.volcano_session()
    if cluster is None:
        return seen
    if _work(cluster) > _MOST:
        return msgspec.structs.replace(seen, untold=Untold.TOO_MANY)
    at = _Placing(past.snapshot(tree, now_ms=seen.at_ms))
    try:
        chance = FirstConsidered(node=seen.node, pods=frozenset(one.pod.uid for one in seen.victims))
        turns = volcano.reclaim(cluster, chance=chance, may_run=at.may_run)
    except HierarchyError:  # with such queues Volcano decides nothing either
        return seen
    told = _as_decision(_there([turn for turn in turns if turn.victims], seen.node), cluster)
    return msgspec.structs.replace(seen, hindsight=Hindsight(decision=told, nodes=len(past.nodes)), untold=None)


def _work(cluster: VolcanoCluster) -> int:
    standing = Counter(one.task for one in cluster.pods if one.group)
    return standing[Task.PENDING] * standing[Task.RUNNING]


def _there(turns: list[Reclaim], node: str) -> list[Reclaim]:
    """Those that take from the node; else from the first one that is taken from."""
    return [turn for turn in turns if turn.node == node] or [turn for turn in turns if turn.node == turns[0].node]


def _as_decision(turns: list[Reclaim], cluster: VolcanoCluster) -> Decision:
    """What goes on one node, for the first that gets room there and all others ``together``."""
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
    """Which pods may run where, were nobody else there."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._asks = {pod.uid: pod for pod in snapshot.asks}
        self._known: dict[str, Feasibility] = {}

    def may_run(self, ask: VolcanoPod, node: str) -> bool:
        """As far as our own checks tell."""
        pod, place = self._asks.get(ask.pod.uid), self._snapshot.columns.place.get(node)
        if pod is None or place is None:
            return False
        if pod.uid not in self._known:
            self._known[pod.uid] = Feasibility(self._snapshot, pod)
        others = [one.uid for one in self._snapshot.pods_by_node.get(node, ())]
        return self._known[pod.uid].on(place).refusal(others) is None
