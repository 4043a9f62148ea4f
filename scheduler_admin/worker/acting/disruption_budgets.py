"""What the cluster's own disruption budgets still allow: a decision is charged whole or not at all."""

from collections import Counter
from collections.abc import Iterable

from engine.feasibility import matches
from engine.model.snapshot import Snapshot
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim

_Key = tuple[str, str]
"""Namespace and name of a budget; uid and namespace of a pod."""


class Disruption:
    """The budgets as a snapshot shows them, less what has been promised of them."""

    def __init__(self, snapshot: Snapshot, promised: Iterable[_Key]) -> None:
        """``promised``: pods (uid, namespace) that are still to go for other decisions."""
        self._budgets = snapshot.budgets
        self._labels = {pod.uid: pod.labels for pod in snapshot.pods}
        self._allowed = {(one.namespace, one.name): one.allowed for one in snapshot.budgets}
        self.charge(promised)

    def allows(self, victims: Iterable[_Key]) -> bool:
        """Whether all of these (uid, namespace) may go; never when one has two budgets, which the API refuses."""
        found = [self._covering(victim) for victim in victims]
        charges = Counter(key for keys in found for key in keys)
        alone = all(len(keys) <= 1 for keys in found)
        return alone and all(count <= self._allowed[key] for key, count in charges.items())

    def charge(self, victims: Iterable[_Key]) -> None:
        """They go."""
        for victim in victims:
            for key in self._covering(victim):
                self._allowed[key] -= 1

    def _covering(self, victim: _Key) -> list[_Key]:
        uid, namespace = victim
        labels = self._labels.get(uid, {})
        of_namespace = (one for one in self._budgets if one.namespace == namespace)
        return [(one.namespace, one.name) for one in of_namespace if matches(one.expressions, labels)]


def promised(cluster: Cluster, *, but: Decision | None = None) -> list[_Key]:
    """The pods (uid, namespace) that open decisions, all ``but`` one, still have to evict."""
    opened = Decision.objects.filter(cluster=cluster).open()
    others = opened.exclude(pk=but.pk) if but else opened
    pending = Victim.objects.filter(decision__in=others, state__in=[Victim.State.CHOSEN, Victim.State.ON_HOLD])
    return list(pending.order_by().values_list("uid", "namespace"))
