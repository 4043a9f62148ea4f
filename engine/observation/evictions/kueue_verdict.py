"""Compare what Kueue preempted with what its own rules decide: whole Workloads, by quota, whatever their nodes."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from engine.analysis.counterfactuals import Counterfactual


class KnownBy(StrEnum):
    """How it is known which of its two preemption algorithms Kueue uses."""

    CONFIG = "config"
    REASONS = "reasons"
    """Kueue reported a reason that only one of the algorithms uses."""
    ASSUMED = "assumed"


class PreemptedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """A Workload that was preempted, or would have been."""

    uid: str
    namespace: str
    name: str
    queue: str
    """The Workload's ClusterQueue."""
    why: str
    """The reason in Kueue's own word."""
    pods: tuple[str, ...] = ()
    """Uids of those of its pods that were seen to terminate."""
    leaving: bool = False
    """Whether it was being evicted already, in which case Kueue does not report it again."""

    @property
    def key(self) -> str:
        """Return the Workload's ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class WorkloadReplay(msgspec.Struct, frozen=True, kw_only=True):
    """The replay: what Kueue's rules decide for the same Workload, on the quota just before."""

    policy: str
    """The policy that was replayed: ``cohort`` or ``fair-share``."""
    strategies: tuple[str, ...] = ()
    known_by: KnownBy
    mode: str
    """How the Workload would be admitted, in Kueue's word: ``Preempt`` does not guarantee that anything is evicted."""
    flavors: Mapping[str, Mapping[str, str]] = {}
    """Pod set -> resource -> flavor that the Workload would get."""
    queue: str
    """The ClusterQueue of the preemptor."""
    ours: tuple[PreemptedWorkload, ...] = ()
    """The Workloads that the replay preempts, in Kueue's order."""
    theirs: tuple[PreemptedWorkload, ...] = ()
    shares: Mapping[str, str] = {}
    """The shares of the ClusterQueues on both sides before the preemption; only under fair sharing."""
    spared: tuple[Counterfactual, ...] | None = None
    """Changes of their own that would have kept the preempted Workloads, if the replay agrees; None if not
    calculated."""

    def spared_pod(self, uid: str) -> tuple[Counterfactual, ...]:
        """Return the changes that would have kept the Workload that a pod (uid) belongs to."""
        key = next((workload.key for workload in self.theirs if uid in workload.pods), None)
        return tuple(change for change in self.spared or () if change.spared == key)

    @property
    def only_theirs(self) -> tuple[PreemptedWorkload, ...]:
        """Return the Workloads that were preempted, but not in the replay."""
        replayed = {workload.uid for workload in self.ours}
        return tuple(workload for workload in self.theirs if workload.uid not in replayed)

    @property
    def only_ours(self) -> tuple[PreemptedWorkload, ...]:
        """Return the Workloads that the replay preempts, but that were not preempted."""
        preempted = {workload.uid for workload in self.theirs}
        return tuple(workload for workload in self.ours if workload.uid not in preempted and not workload.leaving)

    @property
    def other_reasons(self) -> tuple[PreemptedWorkload, ...]:
        """Return the Workloads preempted in both, as in the replay, for which Kueue reported another reason.

        A reason that Kueue did not report does not count as another reason.
        """
        reasons = {workload.uid: workload.why for workload in self.theirs if workload.why}
        return tuple(workload for workload in self.ours if reasons.get(workload.uid, workload.why) != workload.why)

    @property
    def agrees(self) -> bool:
        """Return whether the same Workloads are preempted for the same reasons."""
        return not (self.only_theirs or self.only_ours or self.other_reasons)
