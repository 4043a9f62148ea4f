"""What a tree would do to a cluster as it stands. Reads the journal alone, never the worker or the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from time import thread_time
from typing import Any

import msgspec
from django.conf import settings
from django.utils.translation import gettext as _

from engine import policies
from engine.model.decision import Decision
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Safeguards, Snapshot
from engine.planning.forecast import (
    Forecast,
    ForecastDifference,
    Settling,
    UnreachedGuarantee,
    difference,
    forecast,
    unreached_guarantees,
)
from engine.planning.scheduling_pass import ChoosesNextPod
from engine.policies import Decide
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.journal import LiveMoment, live
from scheduler_admin.journal.selectors.snapshots import saved
from scheduler_admin.queues.services.hierarchies import Terms, terms_of, tree_of


class TooMuchWorkError(Exception):
    """A forecast that takes longer than somebody may keep a web process at work."""


def too_much_work() -> str:
    """Why there is no forecast, in a sentence."""
    sentence = _(
        "The forecast needs more than %(most)s s of CPU time. Too many pods are pending or would be preempted."
    )
    return sentence % {"most": settings.FORECAST_WORK_S}


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
    def change(self) -> ForecastDifference:
        """What the proposed tree adds to what would happen anyway, and what it spares."""
        return difference(self.present, self.proposed)

    @cached_property
    def unreachable(self) -> tuple[UnreachedGuarantee, ...]:
        """Guarantees out of reach under the proposed tree that are not under the one in force."""
        before = {(one.queue, one.resource) for one in unreached_guarantees(self.present, self.tree)}
        found = unreached_guarantees(self.proposed, self.other)
        return tuple(one for one in found if (one.queue, one.resource) not in before)


def alone(found: Forecast, tree: QueueTree, at: datetime) -> Outlook:
    """All that would happen under a tree, with nothing beside it."""
    beside = msgspec.structs.replace(found, rounds=(), settles=Settling.UNDECIDED)
    return Outlook(at=at, present=beside, proposed=found, tree=tree, other=tree)


def forecast_tree(
    *, cluster: Cluster, tree: QueueTree, policy: str, dialect: str, parameters: Mapping[str, Any]
) -> Outlook | None:
    """Forecast a tree, published or not, beside the cluster's own; None where the cluster was not read yet.

    Raises UnknownPolicyError for a policy that this version can't decide by, msgspec.ValidationError for parameters
    that it does not have, engine.planning.journal.CorruptJournalError, TooMuchWorkError.
    """
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    seen = live(cluster)
    if revision is None or seen is None:
        return None
    if not seen.moment.quotas:  # the policy in force goes on without; that of the draft may not
        status = status_of(cluster)
        moment = msgspec.structs.replace(seen.moment, quotas=status.quotas if status else {})
        seen = replace(seen, moment=moment)
    present = _under(seen, cluster, tree_of(revision), terms_of(revision))
    proposed = _under(seen, cluster, tree, Terms(policy, dialect, dict(parameters)))
    return Outlook(at=seen.at, present=present, proposed=proposed, tree=tree_of(revision), other=tree)


def forecast_saved(*, snapshot: SavedSnapshot, tree: QueueTree, terms: Terms) -> Forecast:
    """Forecast a tree on a saved snapshot.

    Raises as forecast_tree does, and engine.planning.journal.JournalError for a snapshot of another version.
    """
    found = saved(snapshot)
    return _under(LiveMoment(found.state, found.moment, snapshot.at), snapshot.cluster, tree, terms)


def _under(seen: LiveMoment, cluster: Cluster, tree: QueueTree, by: Terms) -> Forecast:
    """Forecast a tree by its own policy, which decides whether safeguards are kept, whatever the pass was given."""
    decide = _bounded(policies.policy(by.policy, by.dialect, by.parameters))
    terms, foreign = (
        policies.audit_terms(by.policy, by.dialect, by.parameters),
        by.dialect in policies.foreign_dialects(),
    )
    within = policies.guarded(by.policy, by.dialect, acting=cluster.mode != Cluster.Mode.OBSERVE)
    safeguards = (seen.moment.safeguards or Safeguards()) if within else None
    quotas = seen.moment.quotas if policies.within_quotas(by.policy, by.dialect) else {}
    moment = msgspec.structs.replace(seen.moment, safeguards=safeguards, quotas=quotas)
    return forecast(seen.state, moment, tree, decide, terms=terms, foreign=foreign)


def _bounded(decide: Decide) -> Decide:
    """The same, until this thread has worked for FORECAST_WORK_S: every round decides at least one ask, or is the last.

    So the engine needs no clock.
    """
    if not settings.FORECAST_WORK_S:
        return decide
    until = thread_time() + settings.FORECAST_WORK_S

    def in_time(snapshot: Snapshot, tree: QueueTree, ask: Pod) -> Decision:
        if thread_time() > until:
            raise TooMuchWorkError
        return decide(snapshot, tree, ask)

    if isinstance(decide, ChoosesNextPod):  # has a say in whose turn it is
        in_time.first = decide.first
    return in_time
