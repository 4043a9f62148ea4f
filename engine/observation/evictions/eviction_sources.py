"""List the sources of evictions, what evidence each of them leaves, and how much that evidence shows."""

from enum import StrEnum

import msgspec

from engine.model.objects import EVICTION_BY_VOLCANO, PREEMPTION_BY_SCHEDULER


class EvictionSource(StrEnum):
    """A component that evicts pods."""

    KUBE_SCHEDULER = "kube-scheduler"
    KUEUE = "kueue"
    YUNIKORN = "yunikorn"
    VOLCANO = "volcano"
    API_EVICTION = "api-eviction"
    TAINT_MANAGER = "taint-manager"
    POD_GC = "pod-gc"
    KUBELET = "kubelet"


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """How much the evidence that a scheduler leaves of a preemption shows."""

    names_preemptor: bool
    """Whether it normally names the preemptor."""
    one_node: bool
    """Whether the victims of one decision are on one node."""
    is_replayed: bool
    """Whether the scheduler's rules are implemented here, so that its decision is replayed."""


EVIDENCE: dict[EvictionSource, Evidence] = {
    # The Event Preempted on the pod; without one, its condition DisruptionTarget.
    EvictionSource.KUBE_SCHEDULER: Evidence(names_preemptor=True, one_node=True, is_replayed=True),
    # The conditions Preempted and Evicted of the pod's Workload.
    EvictionSource.KUEUE: Evidence(names_preemptor=True, one_node=False, is_replayed=True),
    # The Event Informational on the pod, or what YuniKorn's own REST API returns.
    EvictionSource.YUNIKORN: Evidence(names_preemptor=True, one_node=False, is_replayed=True),
    # The Event Evict on the pod; without one, its condition Ready. kube-arbitrator, its ancestor, leaves no evidence.
    EvictionSource.VOLCANO: Evidence(names_preemptor=False, one_node=True, is_replayed=True),
}
"""The sources that preempt. The others evict for other reasons, for example a drain, and leave only a condition."""
CLOCKS_MS = 3_000
"""Maximum difference between two clocks of a cluster."""
SCHEDULERS = tuple(EVIDENCE)
GROUP_KINDS = ("PodGroup", "CompositePodGroup")
"""The kinds of preemptors that are groups of pods: kube-scheduler makes room for such a group on several nodes."""
BY_GUARANTEES = (EvictionSource.KUBE_SCHEDULER, EvictionSource.YUNIKORN)
"""The schedulers whose evictions are checked against the tree's fences and guarantees. kube-scheduler knows no
queues, and YuniKorn enforces them itself. Kueue and Volcano take whole workloads by quota of their own: their
decisions are replayed by their own rules, and what those allow is not reported as a violation."""
REASONS = {
    PREEMPTION_BY_SCHEDULER: EvictionSource.KUBE_SCHEDULER,
    "PreemptionByKubeScheduler": EvictionSource.KUBE_SCHEDULER,  # up to 1.26
    EVICTION_BY_VOLCANO: EvictionSource.VOLCANO,
    "EvictionByEvictionAPI": EvictionSource.API_EVICTION,
    "DeletionByTaintManager": EvictionSource.TAINT_MANAGER,
    "DeletionByPodGC": EvictionSource.POD_GC,
    "TerminationByKubelet": EvictionSource.KUBELET,
}
"""Reasons of a pod's condition DisruptionTarget; Volcano's is of the condition Ready."""


FOR_GROUP = "preempting to accommodate a higher priority podgroup"
"""The end of the condition's message where kube-scheduler preempts for a group of pods."""


class RulesOf(msgspec.Struct, frozen=True, kw_only=True):
    """The version of a scheduler whose rules replay its decisions."""

    version: str
    """The version as people read it after the scheduler's name."""
    releases: tuple[str, ...] = ()
    """Prefixes of the releases that were verified to decide by these rules; empty for a state between releases."""

    def cover(self, running: str) -> bool:
        """Return whether the rules were verified for a release, for example ``v1.36.3``."""
        return any(running.removeprefix("v").startswith(release) for release in self.releases)


RULES: dict[EvictionSource, RulesOf] = {
    EvictionSource.KUBE_SCHEDULER: RulesOf(version="1.36", releases=("1.36.",)),
    EvictionSource.KUEUE: RulesOf(version="0.19", releases=("0.19.",)),
    EvictionSource.YUNIKORN: RulesOf(version="of 2026-07"),
    EvictionSource.VOLCANO: RulesOf(version="of 2026-08"),
}
"""The schedulers whose decisions are replayed, with the version of their recorded decisions."""
RULES_BESIDE_GROUPS = RulesOf(version="1.37", releases=("1.37.",))
"""Those of kube-scheduler where it schedules groups of pods as a whole."""
