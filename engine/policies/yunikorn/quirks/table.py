"""The quirks of YuniKorn: named deviations of its implementation from its own design, each of which can be turned off.

With all quirks on, the dialect decides as YuniKorn does. To see the effect of a quirk, it is turned off alone, and the
rule of the design applies instead. docs/policies/yunikorn.md has an example of every quirk.

Source: yunikorn-core in its version of 2026-07, compared with YuniKorn's design document "Preemption".
"""

from enum import StrEnum

import msgspec


class Quirk(StrEnum):
    """The name of a deviation from the design, which is also the name of its field in ``Quirks``."""

    WHOLE_ASK = "whole_ask"
    VICTIMS_CHARGED = "victims_charged"
    LEAF_BELOW = "leaf_below"
    PARENT_BELOW = "parent_below"
    INSIDE_CLAIM = "inside_claim"
    LEAVING_UNCOUNTED = "leaving_uncounted"
    MAX_FENCE = "max_fence"
    NAME_PREFIX = "name_prefix"
    PRIORITIES_BEND = "priorities_bend"
    OWN_ANNOTATION = "own_annotation"
    OPTED_OUT_TAKEN = "opted_out_taken"
    DISABLED_PREEMPTS = "disabled_preempts"
    DELAY_FROM_CREATION = "delay_from_creation"
    TWO_VICTIMS = "two_victims"
    LEAVING_HOLD = "leaving_hold"
    FREE_SPACE_IGNORED = "free_space_ignored"
    NO_REPRIEVE = "no_reprieve"
    AMOUNTS_ALONE = "amounts_alone"
    OTHER_NODES = "other_nodes"
    MAX_UNCHECKED = "max_unchecked"
    DAEMONSET_BELOW = "daemonset_below"
    DAEMONSET_UNBOUNDED = "daemonset_unbounded"
    DAEMONSET_SPREE = "daemonset_spree"
    DAEMONSET_REGARDLESS = "daemonset_regardless"
    DAEMONSET_BY_AFFINITY = "daemonset_by_affinity"
    QUOTA_DEAREST_FIRST = "quota_dearest_first"
    QUOTA_COUNTS_UNDERUSE = "quota_counts_underuse"


class Quirks(msgspec.Struct, frozen=True, kw_only=True):
    """The deviations that are in effect: all of them, unless the effect of one of them is examined."""

    whole_ask: bool = True
    """The pending pod must fit completely into the remaining guarantee; usage below it is not enough (invariant 4).

    If the leaf has its own guarantee, it is the only one that counts: those above it neither entitle nor forbid.
    """
    victims_charged: bool = True
    """What victims hold, not what the pod requests, is charged to the preemptor's queue; an excess ends the search."""
    leaf_below: bool = True
    """A leaf is checked before its pod is evicted, not after, and one resource over is enough (invariants 2, 5)."""
    parent_below: bool = True
    """The guarantees of the queues above a victim's leaf are not protected (invariant 2)."""
    inside_claim: bool = True
    """Pods inside the queue whose guarantee is claimed are evicted, although the queue gains nothing (invariant 4)."""
    leaving_uncounted: bool = True
    """Terminating pods and reserved capacity of the preemptor's queue do not count as its usage (invariant 4)."""
    max_fence: bool = True
    """A queue that the pending pod would take over its max acts as a fence."""
    name_prefix: bool = True
    """A queue counts as above the preemptor's if its path is a text prefix: ``root.a`` counts as above ``root.ab``."""
    priorities_bend: bool = True
    """The settings priority.policy and priority.offset let pods of higher priority be evicted (invariant 6)."""
    own_annotation: bool = True
    """A pod's own annotation on opting out takes precedence over that of its PriorityClass."""
    opted_out_taken: bool = True
    """Pods that opted out are evicted for any pending pod; they only come later in the order."""
    disabled_preempts: bool = True
    """A queue that disables preemption still preempts from other queues."""
    delay_from_creation: bool = True
    """The delay counts from the pod's creation, not from when it was found unschedulable, and leaves inherit it."""
    two_victims: bool = True
    """No victim is added once one requested resource is exceeded, so at most two pods are evicted.

    The number of pods counts as a resource too: the pending pod requests one, which two victims exceed.
    """
    free_space_ignored: bool = True
    """The victims alone must cover the pending pod's requests; free capacity on the node does not count."""
    leaving_hold: bool = True
    """Capacity that terminating pods are about to free does not count, so that further pods are evicted."""
    no_reprieve: bool = True
    """Victims are chosen in order until they suffice; none is reprieved that turns out not to be needed."""
    amounts_alone: bool = True
    """The final check considers only amounts, so victims that were needed for a port or an affinity are dropped."""
    other_nodes: bool = True
    """If only the queue is full, pods on any node may be evicted, although that makes no room for the pending pod."""
    max_unchecked: bool = True
    """Whether the pending pod is within the max of its queues without the victims is not checked."""
    daemonset_below: bool = True
    """For a DaemonSet pod, no guarantee is protected (invariant 2)."""
    daemonset_unbounded: bool = True
    """For a DaemonSet pod, fences, disabled queues, preemptionPolicy Never and its own application are ignored."""
    daemonset_spree: bool = True
    """For a DaemonSet pod, victims are added until they alone cover its requests; free capacity does not count."""
    daemonset_regardless: bool = True
    """For a DaemonSet pod, only amounts are checked: pods are evicted despite a taint, and none for a port."""
    daemonset_by_affinity: bool = True
    """A bound DaemonSet pod is exempt from eviction only if its affinity names its node."""
    quota_dearest_first: bool = True
    """After a max is lowered, pods that opted out and originators of applications are evicted before all others."""
    quota_counts_underuse: bool = True
    """The excess over a parent's lowered max is divided also by what its queues lack of their guarantees."""

    def without(self, quirk: Quirk) -> "Quirks":
        """Return the quirks with one of them turned off."""
        return msgspec.structs.replace(self, **{str(quirk): False})


ALL = Quirks()
