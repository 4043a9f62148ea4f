"""What a tree would do to a cluster as it stands. Reads the journal alone, never the worker or the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from engine import policies
from engine.forecast import Difference, Forecast, difference, forecast
from engine.queues import QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.history.journal_selectors import LiveMoment, live
from scheduler_admin.queues.services import tree_of


@dataclass(frozen=True)
class Outlook:
    """A cluster under the tree now in force and under another, both from what was seen ``at`` one moment."""

    at: datetime
    present: Forecast
    proposed: Forecast

    @cached_property
    def change(self) -> Difference:
        """What the proposed tree adds to what would happen anyway, and what it spares."""
        return difference(self.present, self.proposed)


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
    return Outlook(
        at=seen.at,
        present=_under(seen, tree_of(revision), revision.policy, revision.dialect, revision.parameters),
        proposed=_under(seen, tree, policy, dialect, parameters),
    )


def _under(seen: LiveMoment, tree: QueueTree, policy: str, dialect: str, parameters: Mapping[str, Any]) -> Forecast:
    decide = policies.policy(policy, dialect, parameters)
    terms, foreign = policies.terms(parameters), dialect in policies.FOREIGN
    return forecast(seen.state, seen.moment, tree, decide, terms=terms, foreign=foreign)
