"""The page of a saved snapshot: what it holds, and what a tree that is chosen would do to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
from django.utils.translation import gettext as _

from engine.model.queue_tree import QueueTree
from engine.planning.forecast import Forecast
from engine.planning.journal import JournalError
from engine.policies import UnknownPolicyError
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.forecasts import TooMuchWorkError, forecast_saved, too_much_work
from scheduler_admin.journal.selectors.snapshots import saved
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.presenters.forecasts import Prospect, prospect_alone
from scheduler_admin.queues.services.hierarchies import Terms, terms_of, tree_of

OWN, IN_FORCE = "own", "force"
MOST_PODS = 20_000
"""A forecast of more takes too long for a page."""


@dataclass(frozen=True)
class Choice:
    """A tree to try; ``tree`` is None where it can't be."""

    key: str
    name: str
    tree: QueueTree | None
    terms: Terms


@dataclass(frozen=True)
class SnapshotPage:
    """Ready for the template."""

    snapshot: SavedSnapshot
    choices: Sequence[Choice]
    chosen: Choice | None
    user: Who

    @property
    def obstacle(self) -> str:
        """Why nothing is foretold; empty: it is."""
        if self.chosen is None:
            return _("There is no queue tree to forecast with. Publish one first.")
        if self.chosen.tree is None:
            return _("The queues of this draft do not form a valid tree.")
        if self.snapshot.pods > MOST_PODS:
            return _(
                "This snapshot has more than %(most)s pods, too many for a forecast here. Use "
                "“Compare policies” instead."
            ) % {"most": MOST_PODS}
        return ""

    @cached_property
    def forecast(self) -> Forecast | str:
        """What happens under the chosen tree, or why nobody knows."""
        if self.obstacle or self.chosen is None or self.chosen.tree is None:
            return self.obstacle
        try:
            return forecast_saved(snapshot=self.snapshot, tree=self.chosen.tree, terms=self.chosen.terms)
        except JournalError:
            return _("This snapshot was saved by a different version of Scheduler Admin and can’t be read.")
        except TooMuchWorkError:
            return too_much_work()
        except (UnknownPolicyError, msgspec.ValidationError) as error:
            return str(error)

    @property
    def prospect(self) -> Prospect | str:
        """The same, ready to be shown."""
        found = self.forecast
        if isinstance(found, str) or self.chosen is None or self.chosen.tree is None:
            return str(found)
        return prospect_alone(found, self.chosen.tree, scope_of(self.user, "view"), self.snapshot.at)


def snapshot_page(user: Who, cluster: Cluster, snapshot: SavedSnapshot, under: str) -> SnapshotPage:
    """The page, under the tree of that key; where there is none such, under the first that there is."""
    choices = list(_choices(user, cluster, snapshot))
    chosen = next((one for one in choices if one.key == under), choices[0] if choices else None)
    return SnapshotPage(snapshot, choices, chosen, user)


def _choices(user: Who, cluster: Cluster, snapshot: SavedSnapshot) -> list[Choice]:
    found = []
    if snapshot.policy:
        try:
            own = saved(snapshot).tree
        except JournalError:
            return []
        terms = Terms(snapshot.policy, snapshot.dialect, snapshot.parameters)
        found.append(Choice(OWN, _("tree saved with the snapshot"), own, terms))
    current = cluster.hierarchy.current if cluster.hierarchy else None
    if current is None:
        return found
    name = _("revision %(number)s (current)") % {"number": current.number}
    found.append(Choice(IN_FORCE, name, tree_of(current), terms_of(current)))
    for state in selectors.states(selectors.drafts_of(user, cluster.hierarchy)):
        name = _("draft %(name)s") % {"name": state.draft.name}
        found.append(Choice(f"draft-{state.draft.pk}", name, state.tree, state.terms))
    return found
