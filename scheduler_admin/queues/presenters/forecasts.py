"""What a tree would preempt now: the forecast's sums, ready for the templates."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from engine.model.quantities import format_amount
from engine.model.queue_tree import QueueTree
from engine.planning.forecast import (
    Eviction,
    EvictionCount,
    EvictionGroup,
    Forecast,
    PlacedPod,
    Settling,
    UnreachedGuarantee,
    group_evictions,
)
from engine.planning.journal import CorruptJournalError
from engine.tree.orphans import Orphans
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import Scope, scope_of_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.translation import marked_up
from scheduler_admin.core.words import listed
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.journal.selectors.forecasts import Outlook, TooMuchWorkError, alone, forecast_tree, too_much_work
from scheduler_admin.journal.selectors.orphans import of_hierarchy, sentence
from scheduler_admin.queues.services.hierarchies import Terms

MOST = 20
"""At most so many lines; the rest is counted."""
MOST_IN_LOOP = 6
"""Of a loop's queues so many are named."""


ORPHANING = gettext_noop("Some pods would belong to no queue. Confirm that below, or correct the tree first.")
"""Why a tree is not put in force."""


@dataclass(frozen=True)
class Line:
    """Evictions of one application, with the tenants whose pods they are."""

    group: EvictionGroup
    tenants: str


@dataclass(frozen=True)
class Short:
    """A guarantee out of reach, amounts as people type them."""

    queue: str
    resource: str
    used: str
    guaranteed: str


@dataclass(frozen=True)
class Orphaned:
    """Pods that would belong to no queue: in a sentence, and by those of the reader's queues where they are now."""

    sentence: str
    queues: Sequence[tuple[str, Orphans]]
    """Each with its cluster, where there are several."""
    more: int
    pods: int
    """How many pods there are in all."""


@dataclass(frozen=True)
class Prospect:
    """What would happen under a tree, and what of it only because of the change."""

    at: datetime
    lines: Sequence[Line]
    """Evictions that only the change causes, of the reader's own pods, in the order in which they go."""
    more: int
    others: int
    """How many more pods go that are not the reader's."""
    caused: EvictionCount
    first: EvictionCount
    """Those of the next pass alone."""
    spared: EvictionCount
    anyway: EvictionCount | None
    """What the next passes evict under the tree in force; None where there is none beside it."""
    served: Sequence[tuple[str, int]]
    """Queues with the number of the reader's asks there that only the change serves."""
    unserved: Sequence[tuple[str, int]]
    """The same of those that it serves no longer."""
    short: Sequence[Short]
    """Guarantees of the reader's queues that come out of reach by it."""
    ending: str
    enforced: bool

    @property
    def label(self) -> str:
        """What the button that publishes it says."""
        if not self.enforced or not self.caused.pods:
            return _("Publish")
        text = ngettext("Publish and evict %(n)s pod", "Publish and evict %(n)s pods", self.caused.pods)
        return text % {"n": self.caused.pods}

    @property
    def toll(self) -> SafeString:
        """What publishing it would evict, in a sentence."""
        pods = self.caused.pods
        if not pods:
            return marked_up(_("This change evicts no additional pods."))
        if not self.enforced:
            would = ngettext(
                "In Enforce mode, this change would evict <b>%(n)s pod</b>. In the current mode, no pods are evicted.",
                "In Enforce mode, this change would evict <b>%(n)s pods</b>. In the current mode, no pods are evicted.",
                pods,
            )
            return marked_up(would, n=pods)
        evicts = ngettext(
            "This change evicts <b>%(n)s additional pod</b>",
            "This change evicts <b>%(n)s additional pods</b>",
            pods,
        )
        whose = ngettext(
            "of %(n)s application, %(first)s in the next pass.",
            "of %(n)s applications, %(first)s in the next pass.",
            self.caused.applications,
        )
        return format_html(
            "{} {}",
            marked_up(evicts, n=pods),
            marked_up(whose, n=self.caused.applications, first=self.first.pods),
        )


def forecast_context(cluster: Cluster, tree: QueueTree, terms: Terms, sees: Scope) -> dict[str, Any]:
    """The forecast of a tree for templates, its pods named as far as they are the reader's.

    ``prospect`` is None where the cluster was not read, or it takes too much work, which ``why`` says. ``orphans`` are
    of all clusters of the hierarchy, None where there are none.
    """
    lost = of_hierarchy(cluster.hierarchy, tree) if cluster.hierarchy else {}
    context = {"told": True, "orphans": orphaned(lost, sees)}
    try:
        return {**context, "prospect": _prospect(cluster, tree, terms, sees)}
    except TooMuchWorkError:
        return {**context, "prospect": None, "why": too_much_work()}


def orphaned(found: Mapping[str, Sequence[Orphans]], sees: Scope) -> Orphaned | None:
    """Pods that would belong to no queue, by cluster, for templates; None: there are none."""
    if not found:
        return None
    every = [(name, one) for name, some in found.items() for one in some]
    own = [(name if len(found) > 1 else "", one) for name, one in every if sees.has_path(one.queue)]
    pods = sum(one.running + one.pending for _name, one in every)
    return Orphaned(sentence(one for _name, one in every), own[:MOST], max(0, len(own) - MOST), pods)


def _prospect(cluster: Cluster, tree: QueueTree, terms: Terms, sees: Scope) -> Prospect | None:
    try:
        found = forecast_tree(
            cluster=cluster, tree=tree, policy=terms.policy, dialect=terms.dialect, parameters=terms.parameters
        )
    except CorruptJournalError:
        return None
    return None if found is None else prospect_of(found, sees, enforced=cluster.mode == Cluster.Mode.ENFORCE)


def prospect_of(found: Outlook, sees: Scope, *, enforced: bool = False) -> Prospect:
    """The same of a forecast that is there."""
    caused = found.change.caused
    own = [one for one in caused if sees.has_pod(one.victim.namespace, one.victim.queue)]
    groups = Redaction.of(sees).groups(group_evictions(own))
    return Prospect(
        at=found.at,
        lines=_lines(groups[:MOST]),
        more=max(0, len(groups) - MOST),
        others=EvictionCount.of(caused).pods - EvictionCount.of(own).pods,
        caused=EvictionCount.of(caused),
        first=EvictionCount.of(_first(caused)),
        spared=EvictionCount.of(found.change.spared),
        anyway=found.present.total,
        served=_by_queue(found.change.served, sees),
        unserved=_by_queue(found.change.unserved, sees),
        short=[_short(one) for one in found.unreachable if sees.has_path(one.queue)],
        ending=_ending(found.proposed, sees),
        enforced=enforced,
    )


def prospect_alone(found: Forecast, tree: QueueTree, sees: Scope, at: datetime) -> Prospect:
    """All that would happen under a tree, with nothing beside it."""
    return replace(prospect_of(alone(found, tree, at), sees), anyway=None)


def _lines(groups: Iterable[EvictionGroup]) -> list[Line]:
    """With the tenants that a pod's namespace is of; a reader sees those of their own pods only."""
    scopes = [(tenant.name, scope_of_tenant(tenant)) for tenant in Tenant.objects.order_by("name")]
    return [
        Line(group, listed(name for name, scope in scopes if scope.has_pod(group.namespace, group.queue)))
        for group in groups
    ]


def _by_queue(placed: Iterable[PlacedPod], sees: Scope) -> list[tuple[str, int]]:
    """The most first."""
    asks = (one.ask for one in placed)
    counts = Counter(ask.queue for ask in asks if sees.has_pod(ask.namespace, ask.queue))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _short(one: UnreachedGuarantee) -> Short:
    used, guaranteed = (format_amount(one.resource, amount) for amount in (one.used, one.guaranteed))
    return Short(one.queue, one.resource, used, guaranteed)


def _first(evictions: Sequence[Eviction]) -> list[Eviction]:
    return [one for one in evictions if one.round == 1]


def _ending(proposed: Forecast, sees: Scope) -> str:
    """How it goes on after the first pass."""
    if proposed.loop is not None and not all(map(sees.has_path, proposed.loop.queues)):
        return _("Preemption would never settle: pods would preempt each other in an endless loop.")
    if proposed.loop is not None:
        queues = listed(proposed.loop.queues[:MOST_IN_LOOP])
        return _("Preemption would never settle: pods in %(queues)s would preempt each other in an endless loop.") % {
            "queues": queues
        }
    if proposed.settles is Settling.UNDECIDED:
        passes = len(proposed.rounds)
        return ngettext("Still changing after %(n)s pass.", "Still changing after %(n)s passes.", passes) % {
            "n": passes
        }
    if not proposed.passes:
        return _("Nothing would change.")
    text = ngettext("No further changes after %(n)s pass.", "No further changes after %(n)s passes.", proposed.passes)
    return text % {"n": proposed.passes}
