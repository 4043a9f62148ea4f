"""Applies the policies ``cohort`` and ``fair-share`` to pods: all pending pods of a workload are decided at once."""

from collections.abc import Sequence

from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.quota import QuotaCluster
from engine.model.quota.pod_workloads import GroupedWorkloads, group_workloads
from engine.model.snapshot import Snapshot
from engine.policies.cohort.flavor_assignment import Mode
from engine.policies.cohort.parameters import FairParameters, Parameters, reading_of
from engine.policies.cohort.pass_reuse import cluster_with_terminating, quota_index_of
from engine.policies.cohort.search.fair import STRATEGIES, Strategy
from engine.policies.cohort.search.targets import PreemptionReason
from engine.policies.cohort.trace import WorkloadDecision
from engine.policies.cohort.workload_decision import FAIR_SHARE, POLICY, WorkloadVerdict, decide
from engine.policies.cohort.workload_order import next_pending_pod

DIALECT = "kueue"
_REASONS = {
    PreemptionReason.IN_QUEUE: PodReason.IN_QUEUE,
    PreemptionReason.RECLAMATION: PodReason.RECLAIMED,
    PreemptionReason.WHILE_BORROWING: PodReason.RECLAIMED_BORROWING,
    PreemptionReason.FAIR_SHARING: PodReason.FAIR_SHARING,
}


class QuotaPolicy:
    """Decides preemption by one of the two policies and its parameters."""

    def __init__(self, parameters: Parameters | FairParameters) -> None:
        self._reading = reading_of(parameters)
        self._strategies = _strategies(parameters) if isinstance(parameters, FairParameters) else None
        self._policy = POLICY if self._strategies is None else FAIR_SHARE

    def __call__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Decision:
        """Return the decision for ``ask``: which workloads to preempt so that its quota suffices, or why none."""
        if ask.queue is None or ask.queue not in tree:
            return self._plain(ask, Outcome.NOT_ELIGIBLE, Reason.NO_QUEUE)
        at = group_workloads(snapshot.without_reservation(ask.uid), tree, self._reading)
        if (unread := _queue_with_unread_pods(at, ask)) is not None:
            return self._plain(ask, Outcome.NOT_ELIGIBLE, Reason.UNREAD, unread)
        pods = at.asking(ask)
        if pods[0].uid != ask.uid:
            return self._plain(ask, Outcome.NOT_ELIGIBLE, Reason.DECIDED_WITH, pods[0].key)
        return self._decided(self._decide_workload(at, tree, pods), ask, pods)

    def workload_decision(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> WorkloadDecision | None:
        """Return the workload decision that the decision for ``ask`` is based on.

        It is None if nothing is decided for ``ask``, or if it is decided together with another pod.
        """
        if ask.queue is None or ask.queue not in tree:
            return None
        at = group_workloads(snapshot.without_reservation(ask.uid), tree, self._reading)
        pods = at.asking(ask)
        if _queue_with_unread_pods(at, ask) is not None or pods[0].uid != ask.uid:
            return None
        return self._decide_workload(at, tree, pods)

    def first(self, snapshot: Snapshot, tree: QueueTree, asks: Sequence[Pod]) -> Pod:
        """Return which of some pending pods, given in queue order, is decided next.

        Under fair sharing it is a pod of the queue with the lowest share.
        """
        if self._strategies is None:
            return asks[0]
        return next_pending_pod(group_workloads(snapshot, tree, self._reading), asks)

    def _decide_workload(self, at: GroupedWorkloads, tree: QueueTree, pods: Sequence[Pod]) -> WorkloadDecision:
        workload = at.waiting(pods)
        quota_index_of(at)
        return WorkloadDecision(at, tree, workload, decide(at.cluster, workload, self._strategies), self._strategies)

    def _decided(self, decided: WorkloadDecision, ask: Pod, pods: Sequence[Pod]) -> Decision:
        at = decided.at
        outcome, reason, detail = self._ended(decided, ask)
        victims = [target for target in decided.verdict.search.targets if outcome is Outcome.PREEMPT]
        return Decision(
            policy=self._policy,
            dialect=DIALECT,
            ask=PodFacts.of(ask),
            outcome=outcome,
            reason=reason,
            detail=detail,
            victims=tuple(
                PodVerdict(pod=PodFacts.of(pod), reason=_REASONS[one.why], detail=one.workload.queue)
                for one in victims
                for pod in at.pods(one.workload)
            ),
            together=tuple(PodFacts.of(pod) for pod in pods[1:]),
            trace=decided.trace(admitted=outcome in {Outcome.FITS, Outcome.PREEMPT}),
        )

    def _ended(self, decided: WorkloadDecision, ask: Pod) -> tuple[Outcome, Reason, str]:
        at, verdict = decided.at, decided.verdict
        if verdict.mode is Mode.FIT:
            soon = at.leaves_soon and not self._fits(cluster_with_terminating(at), decided)
            return Outcome.FITS, Reason.FITS_SOON if soon else Reason.FITS, ""
        if ask.never_preempts:
            return Outcome.NOT_ELIGIBLE, Reason.NEVER, ask.priority_class
        if disabled := decided.tree.disabled_by(ask.queue or ""):
            return Outcome.NOT_ELIGIBLE, Reason.DISABLED, disabled
        if verdict.search.targets:
            return Outcome.PREEMPT, Reason.SHORT_OF_QUOTA, decided.decisive
        if beyond := decided.beyond:
            return Outcome.NO_CANDIDATE, Reason.BEYOND_QUOTA, beyond
        if verdict.mode is Mode.NO_FIT:
            return Outcome.NO_CANDIDATE, Reason.BORROWS, decided.decisive
        reason = Reason.NO_ROOM if decided.candidates else Reason.NO_CANDIDATES
        return Outcome.NO_CANDIDATE, reason, decided.decisive

    def _fits(self, cluster: QuotaCluster, decided: WorkloadDecision) -> bool:
        found: WorkloadVerdict = decide(cluster, decided.ask, self._strategies)
        return found.mode is Mode.FIT

    def _plain(self, ask: Pod, outcome: Outcome, reason: Reason, detail: str = "") -> Decision:
        return Decision(
            policy=self._policy,
            dialect=DIALECT,
            ask=PodFacts.of(ask),
            outcome=outcome,
            reason=reason,
            detail=detail,
        )


STRATEGY_SETS = {"both": STRATEGIES, "final": (Strategy.FINAL,), "initial": (Strategy.INITIAL,)}
"""Value of the parameter ``strategies`` -> the Kueue strategies that it selects."""


def _strategies(parameters: FairParameters) -> tuple[Strategy, ...]:
    return STRATEGY_SETS[parameters.strategies]


def _queue_with_unread_pods(at: GroupedWorkloads, ask: Pod) -> str | None:
    """Return a queue in ``ask``'s quota tree whose usage is unknown because a pod could not be read, or None."""
    tree = at.formed.tree
    top = tree.root(tree.queue[ask.queue or ""])
    unread = (pod.queue for pod in at.snapshot.unread_for(ask) if pod.queue in tree.queue)
    return next((queue for queue in unread if queue and tree.root(tree.queue[queue]) == top), None)
