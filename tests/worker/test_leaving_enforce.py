"""A cluster that is no longer acted on: what is open ends, and nothing of ours is left behind."""

import pytest

from engine.cluster.acting.outcomes import SweepResult
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.decisions.models import Decision
from tests.builders import ask
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def test_leaving_enforce_frees_the_room(cluster: Cluster, watch: Watch) -> None:
    """An open decision ends, and its node is released, when the cluster is no longer acted on."""
    run(cluster, watch)
    Cluster.objects.update(mode="observe")
    run(cluster, watch)
    assert Decision.objects.get(pk=Decision.objects.earliest("pk").pk).ending == Decision.Ending.TIMED_OUT
    assert "release n1" in watch.actuator.did


def test_nothing_of_ours_is_left_behind_on_leaving_enforce(cluster: Cluster, watch: Watch) -> None:
    """The API server is asked for what is left, and the lease is kept until none is; then nothing is written."""
    set_mode(cluster=cluster, mode="enforce", actor=None, reason="go", override="east")
    run(cluster, watch)
    set_mode(cluster=cluster, mode="observe", actor=None, reason="stop")
    watch.actuator.sweeping = SweepResult(sentence="the API server did not respond in time")
    run(cluster, watch)
    assert (watch.actuator.did[-1], watch.leading) == ("sweep", True)
    watch.actuator.sweeping = SweepResult(freed=("n7",))
    run(cluster, watch)
    cluster.refresh_from_db()
    assert not cluster.untidy
    done = len(watch.actuator.did)
    run(cluster, watch)
    assert (len(watch.actuator.did), watch.leading) == (done, False)


def test_what_another_installation_holds_is_not_touched_on_leaving(cluster: Cluster, watch: Watch) -> None:
    """It leads by now, and has swept what is ours: our decision ends in our books alone."""
    run(cluster, watch)
    set_mode(cluster=cluster, mode="observe", actor=None, reason="stop")
    watch.leading, watch.rival = False, "another"
    done = len(watch.actuator.did)
    run(cluster, watch)
    assert Decision.objects.earliest("pk").ending == Decision.Ending.TIMED_OUT
    assert len(watch.actuator.did) == done


def test_on_leaving_nothing_ends_before_we_lead_again(cluster: Cluster, watch: Watch) -> None:
    """Nobody leads, as after a restart: the decision stays open until our lease allows us to free its node."""
    run(cluster, watch)
    set_mode(cluster=cluster, mode="observe", actor=None, reason="stop")
    watch.leading = False
    run(cluster, watch)
    assert Decision.objects.open().count() == 1
    watch.leading = True
    run(cluster, watch)
    assert not Decision.objects.open().exists()


def test_leaving_enforce_in_the_middle_stops_before_the_next_eviction(watch: Watch) -> None:
    """Flipped after the first of two evictions, the second is not sent."""
    cluster = add_cluster()
    watch.put(ask("prod-0", queue="prod", cpu=2))
    evict = watch.actuator.evict

    def leaving(victim: object, *, dry_run: bool = False, again: bool = False) -> object:
        if not dry_run:
            Cluster.objects.update(mode="advise")
        return evict(victim, dry_run=dry_run)

    watch.actuator.evict = leaving
    run(cluster, watch, times=2)
    assert len(watch.actuator.evicted) == 1
