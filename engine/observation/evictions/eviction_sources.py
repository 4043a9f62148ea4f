"""Who evicts, what each of them leaves behind, and how far that tells: the one table of it."""

from enum import StrEnum

import msgspec

from engine.model.objects import EVICTION_BY_VOLCANO, PREEMPTION_BY_SCHEDULER


class EvictionSource(StrEnum):
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
    """How far that tells, which a scheduler leaves of a preemption."""

    asks: bool
    """Whether it tells for whom, if all goes well."""
    one_node: bool
    """Whether the victims of one decision are on one node."""
    again: bool
    """Whether its rules are built in here: then it is decided again."""


EVIDENCE: dict[EvictionSource, Evidence] = {
    # The Event Preempted on the pod; without one, its condition DisruptionTarget.
    EvictionSource.KUBE_SCHEDULER: Evidence(asks=True, one_node=True, again=True),
    # The conditions Preempted and Evicted of the pod's Workload.
    EvictionSource.KUEUE: Evidence(asks=True, one_node=False, again=True),
    # The Event Informational on the pod, or what it answers itself.
    EvictionSource.YUNIKORN: Evidence(asks=True, one_node=False, again=True),
    # The Event Evict on the pod; without one, its condition Ready. kube-arbitrator, its ancestor, leaves nothing.
    EvictionSource.VOLCANO: Evidence(asks=False, one_node=True, again=True),
}
"""Those that preempt; the others evict for reasons of their own, as for a drain, and their condition is all."""
SCHEDULERS = tuple(EVIDENCE)
BY_GUARANTEES = (EvictionSource.KUBE_SCHEDULER, EvictionSource.YUNIKORN)
"""Those of which it is told where they went against the tree's fences and guarantees. The first knows of no queues, the
second keeps them itself. Kueue and Volcano take whole workloads by quota of their own: they are decided again by their
rules, and what those allow is nothing against them."""
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


class RulesOf(msgspec.Struct, frozen=True, kw_only=True):
    """By which version's rules what a scheduler did is decided again."""

    version: str
    """As people read it after the scheduler's name."""
    releases: tuple[str, ...] = ()
    """How releases begin that decide by them, as was tried; of a state between releases there is none."""

    def cover(self, running: str) -> bool:
        """Whether they were tried for a release: ``v1.36.3``."""
        return any(running.removeprefix("v").startswith(one) for one in self.releases)


RULES: dict[EvictionSource, RulesOf] = {
    EvictionSource.KUBE_SCHEDULER: RulesOf(version="1.36", releases=("1.36.",)),
    EvictionSource.KUEUE: RulesOf(version="0.19", releases=("0.19.",)),
    EvictionSource.YUNIKORN: RulesOf(version="of 2026-07"),
    EvictionSource.VOLCANO: RulesOf(version="of 2026-08"),
}
"""The schedulers whose decisions are decided again. Their recorded decisions are of these versions."""
