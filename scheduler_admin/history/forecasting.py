"""What a tree would do to a cluster as it stands. Reads the journal alone, never the worker or the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec

from engine import policies
from engine.forecast import Difference, Forecast, Settling, Unreached, difference, forecast, unreached
from engine.queues import QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.journal_selectors import LiveMoment, live
from scheduler_admin.history.models import SavedSnapshot
from scheduler_admin.history.snapshot_selectors import saved
from scheduler_admin.queues.services import Terms, terms_of, tree_of


@dataclass(frozen=True)
class Outlook:
    """A cluster under the tree now in force and under another, both from what was seen ``at`` one moment."""

    at: datetime
    present: Forecast
    proposed: Forecast
    tree: QueueTree
    """The one in force."""
    other: QueueTree
    """The proposed one."""

    @cached_property
    def change(self) -> Difference:
        """What the proposed tree adds to what would happen anyway, and what it spares."""
        return difference(self.present, self.proposed)

    @cached_property
    def unreachable(self) -> tuple[Unreached, ...]:
        """Guarantees out of reach under the proposed tree that are not under the one in force."""
        before = {(one.queue, one.resource) for one in unreached(self.present, self.tree)}
        found = unreached(self.proposed, self.other)
        return tuple(one for one in found if (one.queue, one.resource) not in before)


def alone(found: Forecast, tree: QueueTree, at: datetime) -> Outlook:
    """All that would happen under a tree, with nothing beside it."""
    beside = msgspec.structs.replace(found, rounds=(), settles=Settling.UNSETTLED)
    return Outlook(at=at, present=beside, proposed=found, tree=tree, other=tree)


def forecast_tree(
    *, cluster: Cluster, tree: QueueTree, policy: str, dialect: str, parameters: Mapping[str, Any]
) -> Outlook | None:
    """Forecast a tree, published or not, beside the cluster's own; None where the cluster was not read yet.

    Raises UnknownPolicyError for a policy that this version can't decide by, msgspec.ValidationError for parameters
    that it does not have, engine.journal.TornError.
    """
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    seen = live(cluster)
    if revision is None or seen is None:
        return None
    present = _under(seen, tree_of(revision), terms_of(revision))
    proposed = _under(seen, tree, Terms(policy, dialect, dict(parameters)))
    return Outlook(at=seen.at, present=present, proposed=proposed, tree=tree_of(revision), other=tree)


def forecast_saved(*, snapshot: SavedSnapshot, tree: QueueTree, terms: Terms) -> Forecast:
    """Forecast a tree on a saved snapshot.

    Raises as forecast_tree does, and engine.journal.JournalError for a snapshot of another version.
    """
    found = saved(snapshot)
    return _under(LiveMoment(found.state, found.moment, snapshot.at), tree, terms)


def _under(seen: LiveMoment, tree: QueueTree, by: Terms) -> Forecast:
    decide = policies.policy(by.policy, by.dialect, by.parameters)
    terms, foreign = policies.terms(by.parameters), by.dialect in policies.FOREIGN
    return forecast(seen.state, seen.moment, tree, decide, terms=terms, foreign=foreign)
