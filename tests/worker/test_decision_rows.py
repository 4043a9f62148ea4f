"""What is kept of decisions: a row for each change of outcome, not for each pass, and for how long."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from engine.audit import Invariant
from engine.cluster.acting.outcomes import OperationOutcome, Result
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.bulk import update
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker import tasks
from tests.builders import ask, node, pod
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def test_an_ask_with_the_same_outcome_changes_one_row(cluster: Cluster, watch: Watch) -> None:
    """Waiting is one row with a count, not a row per pass."""
    watch.put(ask("prod-0", queue="prod", never_preempts=True))
    run(cluster, watch, times=4)
    row = Decision.objects.get()
    assert (row.reason, row.count) == ("preemption-policy-never", 4)
    assert row.last_seen > row.first_seen


def test_the_audit_of_a_row_is_of_the_same_figures_as_its_document(watch: Watch) -> None:
    """Decided again alike while usage moves on, a row shows no sums of long ago beside figures of now."""
    cluster = add_cluster(mode="observe")
    run(cluster, watch)
    before = preemption().laws
    watch.put(node("n2", 1), pod("test-4", queue="test", node="n2", created_ms=-1))
    run(cluster, watch)
    row = preemption()
    assert row.count == 2
    assert row.laws != before
    [guarantee] = [check for check in row.laws if check["law"] == Invariant.GUARANTEE]
    assert {line["start"] for line in guarantee["sums"] if line["subject"] == "root.test"} == {5000}


def test_what_was_preempted_is_kept_for_two_years_and_what_waited_for_a_week(watch: Watch) -> None:
    """In observe too, where a preemption is only shown."""
    cluster = add_cluster(mode="observe")
    watch.put(ask("prod-1", queue="prod", never_preempts=True))
    run(cluster, watch)
    month, years = timezone.now() - timedelta(days=30), timezone.now() - timedelta(days=800)
    Decision.objects.update(last_seen=month)
    tasks.prune()
    assert preemption() == Decision.objects.get()
    Decision.objects.update(last_seen=years)
    tasks.prune()
    assert not Decision.objects.exists()


def test_an_ask_that_is_evicted_for_in_vain_again_and_again_waits_longer_each_time(
    cluster: Cluster, watch: Watch
) -> None:
    """Half a minute, a minute, two: an ask that can't be served adds few rows."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.TAKEN)
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        for _ in range(10):
            run(cluster, watch)
            clock.shift(31)
    assert Decision.objects.filter(ending="blocked").count() == 4  # at 0, 31, 93 and 217 s


def test_an_ask_that_wavers_between_outcomes_has_a_row_for_each_and_no_more(cluster: Cluster, watch: Watch) -> None:
    """Room that comes and goes every second does not fill the history."""
    stuck = ask("prod-0", queue="prod", never_preempts=True)
    for _ in range(5):
        watch.put(stuck)
        run(cluster, watch)
        watch.put(ask("prod-0", queue="prod", never_preempts=True, priority=5), node("n2", 4))
        run(cluster, watch)
        del watch.state.nodes["n2"]
    rows = Decision.objects.order_by("pk")
    assert [(row.reason, row.count) for row in rows] == [("preemption-policy-never", 5), ("fits", 5)]
    assert rows[1].last_seen > rows[0].last_seen


def test_a_document_is_stored_small_and_read_as_it_was(cluster: Cluster, watch: Watch) -> None:
    """Whatever writes it: a new row, a changed one, or a save."""
    run(cluster, watch)
    row = preemption()
    assert row.document.startswith("{")
    for text in (row.document * 2, "中" * 3_000, ""):
        row.document = text
        row.save(update_fields=["document"])
        assert preemption().document == text
        update(Decision, ("document",), [(text + "!", row.pk)])
        assert preemption().document == text + "!"
        with connection.cursor() as cursor:
            cursor.execute("SELECT length(document) FROM history_decision WHERE id = %s", [row.pk])
            assert cursor.fetchone()[0] < len(text) // 2 + 20
    assert Decision(cluster=cluster).document == ""
