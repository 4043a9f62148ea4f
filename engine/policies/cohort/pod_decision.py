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

_Result = tuple[Outcome, Reason, str]
"""How a decision ends, why, and a detail of the reason."""


class QuotaPolicy:
    """Decides preemption by one of the two policies and its parameters."""

    def __init__(self, parameters: Parameters | FairParameters) -> None:
        self._reading = reading_of(parameters)
        self._strategies = _strategies(parameters) if isinstance(parameters, FairParameters) else None
        self._policy = POLICY if self._strategies is None else FAIR_SHARE

    def __call__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Decision:
        """Return the decision for ``ask``: which workloads to preempt so that its quota suffices, or why none."""
        workload = self._workload_of(snapshot, tree, ask)
        if isinstance(workload, Decision):
            return workload
        at, pods = workload
        return self._decided(self._decide_workload(at, tree, pods), ask, pods)

    def workload_decision(self, snapshot: Snapshot, tree: QueueTree, ask: Pod) -> WorkloadDecision | None:
        """Return the workload decision that the decision for ``ask`` is based on.

        It is None if nothing is decided for ``ask``, or if it is decided together with another pod.
        """
        workload = self._workload_of(snapshot, tree, ask)
        if isinstance(workload, Decision):
            return None
        at, pods = workload
        return self._decide_workload(at, tree, pods)

    def first(self, snapshot: Snapshot, tree: QueueTree, asks: Sequence[Pod]) -> Pod:
        """Return which of some pending pods, given in queue order, is decided next.

        Under fair sharing it is a pod of the queue with the lowest share.
        """
        if self._strategies is None:
            return asks[0]
        return next_pending_pod(group_workloads(snapshot, tree, self._reading), asks)

    def _workload_of(
        self, snapshot: Snapshot, tree: QueueTree, ask: Pod
    ) -> tuple[GroupedWorkloads, Sequence[Pod]] | Decision:
        """Return the workloads with the pending pods of ``ask``'s, or a decision with why it is not decided by itself.

        The pods of a workload are decided with the first of them.
        """
        if ask.queue is None or ask.queue not in tree:
            return self._undecided(ask, Reason.NO_QUEUE)
        at = group_workloads(snapshot.without_reservation(ask.uid), tree, self._reading)
        if (unread := _queue_with_unread_pods(at, ask)) is not None:
            return self._undecided(ask, Reason.UNREAD, unread)
        pods = at.asking(ask)
        if pods[0].uid != ask.uid:
            return self._undecided(ask, Reason.DECIDED_WITH, pods[0].key)
        return at, pods

    def _decide_workload(self, at: GroupedWorkloads, tree: QueueTree, pods: Sequence[Pod]) -> WorkloadDecision:
        """Choose flavors for the workload, and the workloads to preempt for it."""
        workload = at.waiting(pods)
        quota_index_of(at)
        return WorkloadDecision(at, tree, workload, decide(at.cluster, workload, self._strategies), self._strategies)

    def _decided(self, decided: WorkloadDecision, ask: Pod, pods: Sequence[Pod]) -> Decision:
        """Return what the decision for the workload means for its pods, with the trace."""
        outcome, reason, detail = (
            self._fits_already(decided) or _not_eligible(decided, ask) or _preempts(decided) or _no_targets(decided)
        )
        targets = decided.verdict.search.targets if outcome is Outcome.PREEMPT else ()
        return Decision(
            policy=self._policy,
            dialect=DIALECT,
            ask=PodFacts.of(ask),
            outcome=outcome,
            reason=reason,
            detail=detail,
            victims=tuple(
                PodVerdict(pod=PodFacts.of(pod), reason=_REASONS[one.why], detail=one.workload.queue)
                for one in targets
                for pod in decided.at.pods(one.workload)
            ),
            together=tuple(PodFacts.of(pod) for pod in pods[1:]),
            trace=decided.trace(admitted=outcome in {Outcome.FITS, Outcome.PREEMPT}),
        )

    def _fits_already(self, decided: WorkloadDecision) -> _Result | None:
        """Return that quota is free, now or once terminating pods are gone, None if it is not."""
        if decided.verdict.mode is not Mode.FIT:
            return None
        at = decided.at
        soon = at.leaves_soon and not self._fits(cluster_with_terminating(at), decided)
        return Outcome.FITS, Reason.FITS_SOON if soon else Reason.FITS, ""

    def _fits(self, cluster: QuotaCluster, decided: WorkloadDecision) -> bool:
        found: WorkloadVerdict = decide(cluster, decided.ask, self._strategies)
        return found.mode is Mode.FIT

    def _undecided(self, ask: Pod, reason: Reason, detail: str = "") -> Decision:
        return Decision(
            policy=self._policy,
            dialect=DIALECT,
            ask=PodFacts.of(ask),
            outcome=Outcome.NOT_ELIGIBLE,
            reason=reason,
            detail=detail,
        )


def _not_eligible(decided: WorkloadDecision, ask: Pod) -> _Result | None:
    """Return why the pending pod may not preempt, None if it may."""
    if ask.never_preempts:
        return Outcome.NOT_ELIGIBLE, Reason.NEVER, ask.priority_class
    if disabled := decided.tree.disabled_by(ask.queue or ""):
        return Outcome.NOT_ELIGIBLE, Reason.DISABLED, disabled
    return None


def _preempts(decided: WorkloadDecision) -> _Result | None:
    """Return that workloads are preempted, None if none are."""
    targets = decided.verdict.search.targets
    return (Outcome.PREEMPT, Reason.SHORT_OF_QUOTA, decided.decisive) if targets else None


def _no_targets(decided: WorkloadDecision) -> _Result:
    """Return why there is nothing to preempt."""
    if beyond := decided.beyond:
        return Outcome.NO_CANDIDATE, Reason.BEYOND_QUOTA, beyond
    if decided.verdict.mode is Mode.NO_FIT:
        return Outcome.NO_CANDIDATE, Reason.BORROWS, decided.decisive
    reason = Reason.NO_ROOM if decided.candidates else Reason.NO_CANDIDATES
    return Outcome.NO_CANDIDATE, reason, decided.decisive


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
