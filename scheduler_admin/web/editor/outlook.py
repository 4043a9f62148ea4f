"""What a tree would preempt now: the forecast's sums, ready for the templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.forecast import Eviction, Forecast, Group, Settling, Toll, grouped
from engine.journal import TornError
from engine.queues import QueueTree
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.forecasting import forecast_tree
from scheduler_admin.history.redaction import Redaction
from scheduler_admin.queues.services import Terms

MOST = 20
"""At most so many lines; the rest is counted."""
MOST_IN_LOOP = 6
"""Of a loop's queues so many are named."""


@dataclass(frozen=True)
class Prospect:
    """What would happen under a tree, and what of it only because of the change."""

    at: datetime
    groups: Sequence[Group]
    """Evictions that only the change causes, of the reader's own pods."""
    more: int
    others: int
    """How many more pods go that are not the reader's."""
    caused: Toll
    first: Toll
    """Those of the next pass alone."""
    spared: Toll
    anyway: Toll
    """What the next passes evict under the tree in force."""
    ending: str
    enforced: bool

    @property
    def label(self) -> str:
        """What the button that publishes it says."""
        if not self.enforced or not self.caused.pods:
            return _("Publish")
        text = ngettext("Publish and evict %(n)s pod", "Publish and evict %(n)s pods", self.caused.pods)
        return text % {"n": self.caused.pods}


def prospect(cluster: Cluster, tree: QueueTree, terms: Terms, sees: Scope) -> Prospect | None:
    """The forecast of a tree, its pods named as far as they are the reader's; None where the cluster was not read."""
    try:
        found = forecast_tree(
            cluster=cluster, tree=tree, policy=terms.policy, dialect=terms.dialect, parameters=terms.parameters
        )
    except TornError:
        return None
    if found is None:
        return None
    caused = found.change.caused
    own = [one for one in caused if sees.has_pod(one.victim.namespace, one.victim.queue)]
    groups = Redaction.of(sees).groups(grouped(own))
    return Prospect(
        at=found.at,
        groups=groups[:MOST],
        more=max(0, len(groups) - MOST),
        others=Toll.of(caused).pods - Toll.of(own).pods,
        caused=Toll.of(caused),
        first=Toll.of(_first(caused)),
        spared=Toll.of(found.change.spared),
        anyway=found.present.total,
        ending=_ending(found.proposed, sees),
        enforced=cluster.mode == Cluster.Mode.ENFORCE,
    )


def _first(evictions: Sequence[Eviction]) -> list[Eviction]:
    return [one for one in evictions if one.round == 1]


def _ending(proposed: Forecast, sees: Scope) -> str:
    """How it goes on after the first pass."""
    if proposed.loop is not None and not all(map(sees.has_path, proposed.loop.queues)):
        return _("It never comes to rest: pods would go in turn, for ever.")
    if proposed.loop is not None:
        queues = ", ".join(proposed.loop.queues[:MOST_IN_LOOP])
        return _("It never comes to rest: in turn, for ever, pods would go in %(queues)s.") % {"queues": queues}
    if proposed.settles is Settling.UNSETTLED:
        passes = len(proposed.rounds)
        return ngettext("Not quiet after %(n)s pass.", "Not quiet after %(n)s passes.", passes) % {"n": passes}
    if not proposed.passes:
        return _("Nothing moves.")
    text = ngettext("Quiet after %(n)s pass.", "Quiet after %(n)s passes.", proposed.passes)
    return text % {"n": proposed.passes}
