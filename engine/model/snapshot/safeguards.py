"""What lastingly keeps pods from being evicted, whatever a policy would choose."""

import msgspec

from engine.model.queue_paths import is_inside


class Safeguards(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of safeguards where a decision is to be carried out, beside the cluster's own disruption budgets.

    A policy that is given them chooses among the sets of victims that they let through. Limits that only delay a
    decision (rates, cool-downs, windows) are no part of it: they must not divert evictions to worse victims.
    """

    paused: tuple[str, ...] = ()
    """Queues (paths) in which, and for which, nothing is evicted, those below them included."""
    queues: tuple[str, ...] = ()
    """Within which alone something is evicted, those below them included; or within the ``namespaces``."""
    namespaces: tuple[str, ...] = ()
    """Where both are empty: anywhere."""

    @property
    def limited(self) -> bool:
        """Whether there are places in which nothing is evicted."""
        return bool(self.queues or self.namespaces)

    def covers(self, queue: str, namespace: str) -> bool:
        """Whether something is evicted where a pod of this queue and namespace is."""
        inside = namespace in self.namespaces or any(is_inside(queue, above) for above in self.queues)
        return inside or not self.limited

    @property
    def everywhere(self) -> "Safeguards":
        """The same, but for these places."""
        return msgspec.structs.replace(self, queues=(), namespaces=()) if self.limited else self
