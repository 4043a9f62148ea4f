"""Who evicts, what each of them leaves behind, and how far that tells: the one table of it."""

from enum import StrEnum

import msgspec

from engine.snapshot import EVICTION_BY_VOLCANO, PREEMPTION_BY_SCHEDULER


class Source(StrEnum):
    """Who evicted."""

    KUBE_SCHEDULER = "kube-scheduler"
    KUEUE = "kueue"
    YUNIKORN = "yunikorn"
    VOLCANO = "volcano"
    API_EVICTION = "api-eviction"
    TAINT_MANAGER = "taint-manager"
    POD_GC = "pod-gc"
    KUBELET = "kubelet"


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduler tells of a preemption, and what is made of it here."""

    by: str
    """Where it tells."""
    asks: bool
    """Whether it tells for whom, if all goes well."""
    one_node: bool
    """Whether the victims of one decision are on one node."""
    again: bool
    """Whether its rules are built in here: then it is decided again."""


EVIDENCE: dict[Source, Evidence] = {
    Source.KUBE_SCHEDULER: Evidence(
        by="Event Preempted on the pod; its condition DisruptionTarget", asks=True, one_node=True, again=True
    ),
    Source.KUEUE: Evidence(
        by="conditions Preempted and Evicted of the Workload", asks=True, one_node=False, again=False
    ),
    Source.YUNIKORN: Evidence(by="Event Informational on the pod; its own REST", asks=True, one_node=False, again=True),
    Source.VOLCANO: Evidence(by="Event Evict on the pod; its condition Ready", asks=False, one_node=True, again=False),
}
"""Those that preempt; the others evict for reasons of their own, as for a drain, and their condition is all."""
SCHEDULERS = tuple(EVIDENCE)
REASONS = {
    PREEMPTION_BY_SCHEDULER: Source.KUBE_SCHEDULER,
    "PreemptionByKubeScheduler": Source.KUBE_SCHEDULER,  # up to 1.26
    EVICTION_BY_VOLCANO: Source.VOLCANO,
    "EvictionByEvictionAPI": Source.API_EVICTION,
    "DeletionByTaintManager": Source.TAINT_MANAGER,
    "DeletionByPodGC": Source.POD_GC,
    "TerminationByKubelet": Source.KUBELET,
}
"""Reasons of a pod's condition DisruptionTarget; Volcano's is of the condition Ready."""
