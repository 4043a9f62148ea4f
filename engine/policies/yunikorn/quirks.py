"""Where YuniKorn, as it is implemented, departs from its own design: each departure by a name, each to be turned off.

With all of them on, the dialect decides as YuniKorn does. Each is turned off alone to see what it changes: then the
design's rule holds in its place. docs/policies/yunikorn.md has an example of every one.
"""

from enum import StrEnum

import msgspec


class Quirk(StrEnum):
    """A departure; the name of its field in Quirks, too."""

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
    """Which departures hold; all of them, unless it is asked what one of them changes."""

    whole_ask: bool = True
    """The ask must fit wholly into what is left of the guarantee; it does not suffice to be below it (law 4).

    And a guarantee of the leaf's own is the only one that counts: those above it entitle to nothing and forbid nothing.
    """
    victims_charged: bool = True
    """What victims hold is charged to the asker's queue, not what it asks: the first one too large ends the search."""
    leaf_below: bool = True
    """A leaf is looked at before its pod goes, not after, and one resource over the guarantee is enough (laws 2, 5)."""
    parent_below: bool = True
    """What the queues above a victim's leaf were promised is not kept (law 2)."""
    inside_claim: bool = True
    """Pods are taken from inside the queue whose guarantee is claimed, which gains nothing by that (law 4)."""
    leaving_uncounted: bool = True
    """The asker's pods on their way out, and the room kept for its other asks, do not count as its usage (law 4)."""
    max_fence: bool = True
    """A queue that the ask would take over its max is a fence."""
    name_prefix: bool = True
    """A queue counts as above the asker's when its name begins alike: ``root.a`` as above ``root.ab``."""
    priorities_bend: bool = True
    """priority.policy and priority.offset let pods of higher priority be taken (law 6)."""
    own_annotation: bool = True
    """A pod's own annotation decides whether it opted out, before its PriorityClass's."""
    opted_out_taken: bool = True
    """Pods that opted out are taken for any ask; they only come later in the order."""
    disabled_preempts: bool = True
    """A queue that turned preemption off still preempts others."""
    delay_from_creation: bool = True
    """The delay counts from the ask's creation, not from when no room was found for it, and is inherited by leaves."""
    two_victims: bool = True
    """No victim is added once one resource of the ask is exceeded: every pod counts as one pod, so at most two go."""
    free_space_ignored: bool = True
    """The victims alone must cover the ask; what is free on the node does not count."""
    leaving_hold: bool = True
    """Room that pods on their way out are about to leave does not count, so that others go as well."""
    no_reprieve: bool = True
    """Victims are taken in their order until they suffice; none is spared that turns out not to be needed."""
    amounts_alone: bool = True
    """In the end only amounts are looked at: who had to go for a port or an affinity is left out again."""
    other_nodes: bool = True
    """Where only the queue is full, pods on any node may go, though their going there makes no room for the ask."""
    max_unchecked: bool = True
    """It is not checked whether the ask is within the max of its queues once the victims are gone."""
    daemonset_below: bool = True
    """For a DaemonSet's ask no guarantee is kept (law 2)."""
    daemonset_unbounded: bool = True
    """For a DaemonSet's ask there is no fence, no turned off queue, no Never and no application of its own."""
    daemonset_spree: bool = True
    """For a DaemonSet's ask pods go until they alone cover it; what is free on the node does not count."""
    daemonset_regardless: bool = True
    """For a DaemonSet's ask only amounts are looked at: pods go though a taint keeps it out, none goes for a port."""
    daemonset_by_affinity: bool = True
    """A DaemonSet's pod is left alone only where its affinity names its node."""
    quota_dearest_first: bool = True
    """A lowered max takes the pods that opted out and the first ones of their applications before all others."""
    quota_counts_underuse: bool = True
    """A parent's lowered max is shared out also by what its queues lack of their guarantees."""

    def without(self, quirk: Quirk) -> "Quirks":
        """The same with one departure turned off."""
        return msgspec.structs.replace(self, **{str(quirk): False})


ALL = Quirks()
