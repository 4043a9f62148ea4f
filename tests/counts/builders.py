"""Tallies beside passes: what was tallied before one must still be what the rows make after it, or be due again."""

from typing import Any

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import unpack
from scheduler_admin.counts.models import Tally
from scheduler_admin.counts.services import HOUR, _counted, _write, begin_of
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker.passes import run_pass


def run_and_check(*, cluster: Cluster, **given: Any) -> None:
    """Run a pass, hold all tallies against the rows, and tally all there is, as if its hours were over."""
    run_pass(cluster=cluster, **given)
    for tally in Tally.objects.filter(document__isnull=False):
        assert tally.document is not None
        assert unpack(tally.document) == _counted(tally)
    for at in Decision.objects.filter(cluster=cluster).values_list("first_seen", flat=True):
        _write(Tally.objects.get_or_create(cluster=cluster, span=HOUR, start=begin_of(at, HOUR))[0].pk)
