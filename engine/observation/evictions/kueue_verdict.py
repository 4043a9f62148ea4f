"""What Kueue preempted beside what its own rules decide: whole Workloads, by quota, whatever nodes they ran on."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from engine.analysis.counterfactuals import Counterfactual


class KnownBy(StrEnum):
    """How it is known which of its two ways of preempting Kueue is set to."""

    CONFIG = "config"
    REASONS = "reasons"
    """A reason that it gives belongs to one of them alone."""
    ASSUMED = "assumed"


class Gone(msgspec.Struct, frozen=True, kw_only=True):
    """A Workload that went, or would have."""

    uid: str
    namespace: str
    name: str
    queue: str
    """Its ClusterQueue."""
    why: str
    """In Kueue's own word."""
    pods: tuple[str, ...] = ()
    """Uids of those of its pods that were seen to go."""
    leaving: bool = False
    """Whether it was on its way out already: then Kueue does not say it again."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """What Kueue's rules decide for the same Workload, on the quota as it was just before."""

    policy: str
    """``cohort`` or ``fair-share``."""
    strategies: tuple[str, ...] = ()
    known_by: KnownBy
    mode: str
    """How the Workload would be admitted, in Kueue's word: ``Preempt`` does not promise that anybody goes."""
    flavors: Mapping[str, Mapping[str, str]] = {}
    """Pod set -> resource -> flavor that it would get."""
    queue: str
    """The ClusterQueue that asks."""
    ours: tuple[Gone, ...] = ()
    """In Kueue's order."""
    theirs: tuple[Gone, ...] = ()
    shares: Mapping[str, str] = {}
    """Of the ClusterQueues on both sides before anybody went; under fair sharing alone."""
    spared: tuple[Counterfactual, ...] | None = None
    """What of their own would have spared those who went, where ours agrees; None: not worked out."""

    def spared_pod(self, uid: str) -> tuple[Counterfactual, ...]:
        """What of its own would have spared the Workload that a pod (uid) is of."""
        key = next((one.key for one in self.theirs if uid in one.pods), None)
        return tuple(one for one in self.spared or () if one.spared == key)

    @property
    def only_theirs(self) -> tuple[Gone, ...]:
        """Those who went, and would not have."""
        ours = {one.uid for one in self.ours}
        return tuple(one for one in self.theirs if one.uid not in ours)

    @property
    def only_ours(self) -> tuple[Gone, ...]:
        """Those who would have gone, and were not told to."""
        theirs = {one.uid for one in self.theirs}
        return tuple(one for one in self.ours if one.uid not in theirs and not one.leaving)

    @property
    def other_reasons(self) -> tuple[Gone, ...]:
        """Of those who go in both, as ours has them, those for another reason; what Kueue did not say is no other."""
        said = {one.uid: one.why for one in self.theirs if one.why}
        return tuple(one for one in self.ours if said.get(one.uid, one.why) != one.why)

    @property
    def agrees(self) -> bool:
        """Whether the same Workloads go for the same reasons."""
        return not (self.only_theirs or self.only_ours or self.other_reasons)
