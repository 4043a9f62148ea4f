"""Lasting restrictions that keep pods from being evicted, whatever a policy would choose."""

import msgspec

from engine.model.queue_paths import is_inside


class Safeguards(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The known restrictions where a decision is to be carried out, besides the cluster's own disruption budgets.

    A policy that is given them chooses among the sets of victims that they permit. Limits that only delay a decision
    (rates, cool-downs, windows) are not part of it: they must not divert evictions to worse victims.
    """

    paused: tuple[str, ...] = ()
    """Queue paths in which, and for which, nothing is evicted, including the queues below them."""
    queues: tuple[str, ...] = ()
    """Queue paths to which evictions are restricted, including the queues below them; see also ``namespaces``."""
    namespaces: tuple[str, ...] = ()
    """Namespaces to which evictions are restricted as well. If both lists are empty, nothing is restricted."""

    @property
    def limited(self) -> bool:
        """Return whether evictions are restricted to some queues or namespaces."""
        return bool(self.queues or self.namespaces)

    def covers(self, queue: str, namespace: str) -> bool:
        """Return whether pods of this queue and namespace may be evicted."""
        inside = namespace in self.namespaces or any(is_inside(queue, above) for above in self.queues)
        return inside or not self.limited

    @property
    def everywhere(self) -> "Safeguards":
        """Return the safeguards without the restriction to queues and namespaces."""
        return msgspec.structs.replace(self, queues=(), namespaces=()) if self.limited else self
