"""However long the history has become, a pass reads no more of it; by SQLite's plans, which few rows don't change."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import NEWEST_FIRST
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.selectors.query import DecisionQuery
from scheduler_admin.worker import passes
from tests.builders import ask, node, pod
from tests.worker.watch import Watch

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="another database reads few rows without their indexes"),
]

WHOLE = re.compile(
    r"^SCAN history_|evicted_at=\?\)$"
    r"|^SEARCH history_(decision|pass|wait|victim) (?!USING INDEX victim_to_).*\(cluster_id=\?\)$"
)
"""Steps of SQLite's plans that read all rows of a table, all of a cluster, or all victims that were not evicted.

Indexes of what is still to be done (``victim_to_``) hold that alone.
"""


def a_pass(watch: Watch) -> None:
    """Run one."""
    passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)


def plan_of(statement: str) -> list[str]:
    """The steps in which SQLite answers it."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {statement.replace('%', '%%')}")
        return [row[3] for row in cursor.fetchall()]


def test_every_query_of_a_pass_that_acts_goes_by_an_index(cluster: Cluster, watch: Watch) -> None:
    """One decision is open, one begins, one has ended with its victim on its way out: none is sought among all."""
    watch.actuator.evicting = {f"test-{n}": EvictionResult(outcome=EvictionOutcome.HELD) for n in range(4)}
    a_pass(watch)
    long_ago = timezone.now() - timedelta(minutes=10)
    ended = Decision.objects.create(
        cluster=cluster, ask_uid="x", state="closed", first_seen=long_ago, last_seen=long_ago, closed_at=long_ago
    )
    Victim.objects.create(decision=ended, cluster=cluster, position=0, uid="y", state="evicted", evicted_at=long_ago)
    more = [pod(f"test-{number}", queue="test", node="n2", app="test") for number in range(4, 8)]
    watch.put(ask("prod-1", queue="prod"), node("n2", 4), more)
    with CaptureQueriesContext(connection) as asked:
        a_pass(watch)
    assert Victim.objects.get(uid="y").state == "exited"
    statements = [one["sql"] for one in asked.captured_queries if re.match(r"(SELECT|UPDATE).*history_", one["sql"])]
    plans = {statement: plan_of(statement) for statement in statements}
    assert len(plans) > 15
    assert not {sql: steps for sql, steps in plans.items() if any(WHOLE.search(step) for step in steps)}


def test_what_goes_against_the_laws_is_sought_among_that_alone(cluster: Cluster) -> None:
    """On the page, and by REST: not among all that was ever decided."""
    now = timezone.now()
    rows = DecisionQuery(against_laws=True).rows(User(role=User.Role.ADMIN), cluster)
    asked = [
        Filters.of({"outcome": "failed-checks"}, now).query.rows(User(role=User.Role.ADMIN), cluster),
        rows.order_by(*NEWEST_FIRST),
    ]
    for which in asked:
        with CaptureQueriesContext(connection) as queries:
            list(which[:20])
        [step, *_] = plan_of(queries.captured_queries[0]["sql"])
        assert "decision_against_laws" in step
