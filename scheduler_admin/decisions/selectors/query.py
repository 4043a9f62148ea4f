"""Which decisions are asked for. Pages, the REST API, exports and counts read decisions through this alone."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, DecisionQuerySet, Victim

REPEATED = 3
"""So many preemptions in a day make an application one that is preempted again and again."""


@dataclass(frozen=True, kw_only=True)
class DecisionQuery:
    """Filters of decisions; all that are set must hold.

    What it says of pending pods and victims it says of those that the reader may see: else one could guess names that
    are somebody else's, filter by filter.
    """

    since: datetime | None = None
    until: datetime | None = None
    queues: frozenset[str] = frozenset()
    """Paths of queues; the pending pod or a victim is in one of them or below it."""
    namespace: str = ""
    """Of the pending pod or of a victim; so is ``application``."""
    application: str = ""
    priority_class: str = ""
    node: str = ""
    source: str = ""
    outcomes: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    ending: str = ""
    against_laws: bool | None = None
    again: bool | None = None
    """Whether a victim's application was preempted again and again; see REPEATED."""

    @property
    def about(self) -> tuple[str, Collection[str]]:
        """Return what of a pod is asked for, as ``names.Kind`` has it: the kind with the most names, and its names."""
        for kind, name in (("application", self.application), ("namespace", self.namespace)):
            if name:
                return kind, {name}
        return ("queue", self.queues) if self.queues else ("", ())

    def rows(self, user: Who, cluster: Cluster) -> DecisionQuerySet:
        """Return the decisions of a cluster that the user may see and the filters leave, in no order.

        They have their places in the order of pages: ``at`` and ``number``.
        """
        rows = Decision.objects.restrict(user, "view").placed(cluster, *self.about).order_by()
        return rows.filter(*self._plain(), *self._of_pods(user))

    def _plain(self) -> list[Q]:
        """What is the same for every reader."""
        found = []
        if self.outcomes:
            found.append(_one_of("outcome", self.outcomes))
        if self.states:
            found.append(_one_of("state", self.states))
        if self.since is not None:
            found.append(Q(at__gte=self.since))
        if self.until is not None:
            found.append(Q(at__lt=self.until))
        found += [Q(**{name: getattr(self, name)}) for name in ("source", "node", "ending") if getattr(self, name)]
        if self.against_laws is not None:
            found.append(Q(against_laws=self.against_laws))
        return found

    def _of_pods(self, user: Who) -> list[Q]:
        """What is about pods, as far as the reader may see them."""
        scope = scope_of(user, "view")
        found: list[Q] = []
        own = scope.pods("ask_namespace", "ask_queue")
        victims = Victim.objects.restrict(user, "view").filter(decision=OuterRef("pk"))
        if self.queues:
            inside = Scope(subtrees=self.queues)
            found.append(inside.paths("ask_queue") | Q(Exists(victims.filter(inside.paths("queue")))))
        found += [
            own & Q(**{f"ask_{name}": wanted}) | Q(Exists(victims.filter(**{name: wanted})))
            for name, wanted in (("namespace", self.namespace), ("application", self.application))
            if wanted
        ]
        if self.priority_class:
            found.append(own & Q(ask_priority_class=self.priority_class))
        if self.again is not None:
            found += self._again(scope, Exists(victims.filter(preempted_in_day__gte=REPEATED)))
        return found

    def _again(self, scope: Scope, seen: Exists) -> list[Q]:
        """The column tells it of all victims; who sees some has it told of those."""
        if scope.everything:
            return [Q(again=self.again)]
        return [Q(again=True), Q(seen)] if self.again else [~Q(seen)]


def _one_of(column: str, values: tuple[str, ...]) -> Q:
    """One value is asked for as one: databases find a better index for it."""
    return Q(**{column: values[0]}) if len(values) == 1 else Q(**{f"{column}__in": values})
