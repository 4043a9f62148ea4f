"""What of its own would have spared a victim: worked out beside the passes on what they saw, and kept with it."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from engine.analysis.counterfactuals import Counterfactual, counterfactuals_of_victim
from engine.model.change import Change
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.replay.changes import own_changes, work_out
from scheduler_admin.journal.models import JournalEntry
from scheduler_admin.queues.models import Revision
from scheduler_admin.worker.tasks import work_out_changes
from tests.builders import node, rewrite
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def test_it_is_worked_out_once_and_kept_when_the_journal_is_gone(cluster: Cluster, watch: Watch) -> None:
    """A guarantee just above what is left to its queue, a priority above the asker's; its people may ask much later."""
    run(cluster, watch)
    work_out_changes()
    JournalEntry.objects.all().delete()
    [victim] = preemption().victims.all()
    found = {one.change: one for one in own_changes(victim)}
    assert found[Change.GUARANTEE].amounts == {"cpu": 3001}
    assert found[Change.PRIORITY].priority == 1
    assert {one.spared for one in found.values()} == {f"ns/{victim.name}"}


def test_pages_hear_of_it(cluster: Cluster, watch: Watch) -> None:
    """And only then: a second turn finds nothing to do."""
    run(cluster, watch)
    before = ClusterStatus.objects.get().news
    work_out_changes()
    assert ClusterStatus.objects.get().news == before + 1
    work_out_changes()
    assert ClusterStatus.objects.get().news == before + 1


def test_what_can_not_be_decided_again_is_left_without_an_answer(cluster: Cluster, watch: Watch) -> None:
    """It is not tried again and again."""
    run(cluster, watch)
    JournalEntry.objects.all().delete()
    work_out_changes()
    assert preemption().victims.get().changes == []


def test_other_figures_are_worked_out_again(watch: Watch) -> None:
    """A decision that is only shown is kept up to date; so is what would have spared its victims."""
    cluster = add_cluster(mode="advise")
    run(cluster, watch)
    work_out_changes()
    assert own_changes(preemption().victims.get())
    known = preemption().document
    watch.state.nodes["n2"] = node("n2", "500m")
    run(cluster, watch)
    assert preemption().document != known
    assert Victim.objects.get().changes is None


def test_what_a_pass_finds_meanwhile_is_not_overwritten(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was worked out on former figures is not kept beside newer ones."""
    cluster = add_cluster(mode="advise")
    run(cluster, watch)

    def slow(*asked: Any) -> Iterator[Counterfactual]:
        watch.state.nodes["n2"] = node("n2", "500m")
        run(cluster, watch)
        return counterfactuals_of_victim(*asked)

    monkeypatch.setattr("scheduler_admin.decisions.replay.changes.counterfactuals_of_victim", slow)
    work_out_changes()
    assert Victim.objects.get().changes is None
    work_out_changes()
    assert own_changes(Victim.objects.get())


def test_one_that_fails_keeps_no_other_from_its_turn(
    cluster: Cluster, watch: Watch, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left without an answer, and the log has the reason."""
    run(cluster, watch)
    monkeypatch.setattr(
        "scheduler_admin.decisions.replay.changes.counterfactuals_of_victim", Mock(side_effect=RuntimeError)
    )
    work_out_changes()
    assert preemption().victims.get().changes == []
    assert f"the victims of decision {preemption().pk} failed" in caplog.text


def test_one_under_a_policy_that_is_known_no_more_is_left_without_an_answer(cluster: Cluster, watch: Watch) -> None:
    run(cluster, watch)
    rewrite(Revision.objects.all(), policy="gone")
    work_out_changes()
    assert preemption().victims.get().changes == []


def copied(row: Decision, victim: str) -> Decision:
    """Another decision like it, of one victim."""
    copy = Decision.objects.get(pk=row.pk)
    copy.pk = None
    copy.save()
    given = {"uid": victim, "namespace": "ns", "name": victim, "queue": "", "node": "n1"}
    Victim.objects.create(decision=copy, cluster=copy.cluster, position=0, **given)
    return copy


def test_the_newest_and_the_oldest_get_their_turn_however_slow_it_is(cluster: Cluster, watch: Watch) -> None:
    """So no one waits for ever behind those that get new figures with every pass."""
    run(cluster, watch)
    oldest = preemption()
    Decision.objects.update(ask_uid="another")
    for name in ("between", "newest"):
        copied(oldest, name)
    work_out(for_s=0)
    assert oldest.victims.get().changes is not None
    assert Victim.objects.get(name="newest").changes == []
    assert Victim.objects.get(name="between").changes is None


def test_one_that_is_gone_meanwhile_keeps_no_other_from_its_turn(
    cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass may find out that its victims went for another ask."""
    run(cluster, watch)
    oldest = preemption()
    Decision.objects.update(ask_uid="another")
    between, newest = copied(oldest, "between"), copied(oldest, "newest")

    def meanwhile(row: Decision) -> dict[str, list[Counterfactual]]:
        if row.pk == newest.pk:
            oldest.delete()
        return {}

    monkeypatch.setattr("scheduler_admin.decisions.replay.changes._own_changes", meanwhile)
    work_out(for_s=60)
    assert between.victims.get().changes == []
