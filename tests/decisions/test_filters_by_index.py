"""Each filter of the history finds a page at its place in an index, however long the history, and rare the value.

``test_on_postgres.py`` runs all of this on PostgreSQL.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import Cursor
from scheduler_admin.decisions.api.parameters import query_of
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import page
from scheduler_admin.decisions.selectors.histories import histories
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.selectors.query import REPEATED
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.rest.pagination import NewestFirst

NOW = timezone.now()
RARE: dict[str, Any] = {
    "node": "n7",
    "source": "kueue",
    "outcome": "not-eligible",
    "state": "on-hold",
    "ending": "capacity-taken",
    "ask_priority_class": "rare",
    "against_laws": True,
    "again": True,
}
ABOUT = {"ask_queue": "root.rare.leaf", "ask_namespace": "rare", "ask_application": "rare-app"}
MENTIONS = "primary key of mentions"
PRIMARY = {"sqlite": "sqlite_autoindex_history_mention_1", "postgresql": "history_mention_pkey"}
ON_POSTGRES = "SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off"
"""Of few rows any plan is good; what is left is how it would read many."""


@pytest.fixture
def reader(db: None) -> User:
    """Somebody who sees everything."""
    return User.objects.create_user("ada", role=User.Role.ADMIN)


@pytest.fixture
def history(cluster: Cluster) -> Cluster:
    """Five hundred decisions, of which the oldest thirty have what is rare."""
    common = {"outcome": "preempt", "state": "closed", "ending": "bound", "node": "n1", "ask_priority_class": "batch"}
    rows = []
    for number in range(500):
        at = NOW - timedelta(seconds=number)
        told = RARE | ABOUT if number >= 470 else common
        rows.append(Decision(cluster=cluster, ask_uid=str(number), first_seen=at, last_seen=at, **told))
    Decision.objects.bulk_create(rows)
    hit = {"cluster": cluster, "position": 0, "preempted_in_day": REPEATED}
    Victim.objects.bulk_create(Victim(decision=row, uid=row.ask_uid, **hit) for row in rows if row.again)
    mention(rows)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE; {ON_POSTGRES}")
    return cluster


def plan_of(queries: CaptureQueriesContext) -> str:
    """How the database reads the first of them that is about decisions."""
    return plan_of_statement(next(one["sql"] for one in queries.captured_queries if "history_" in one["sql"]))


def plan_of_statement(statement: str) -> str:
    """How the database answers it, one step a line."""
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {statement.replace('%', '%%')}")
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def unlike(index: str, plan: str, *, entered: bool) -> bool:
    """Whether it reads anything but this index, in any order but its own, or from its beginning."""
    index = PRIMARY[connection.vendor] if index == MENTIONS else index
    sorts = "Sort  (" in plan or "TEMP B-TREE" in plan
    bounded = "first_seen<?" in plan or "first_seen <=" in plan
    return f"{index} " not in plan or sorts or (entered and not bounded)


BY_REST: list[tuple[dict[str, Any], str]] = [
    ({"node": "n7"}, "decision_node"),
    ({"source": "kueue"}, "decision_source"),
    ({"outcome": "not-eligible"}, "decision_outcome"),
    ({"state": "on-hold"}, "decision_state"),
    ({"ending": "capacity-taken"}, "decision_ending"),
    ({"priority_class": "rare"}, "decision_class"),
    ({"against_laws": True}, "decision_against_laws"),
    ({"again": True}, "decision_again"),
    ({"queue": "root.rare"}, MENTIONS),
    ({"namespace": "rare"}, MENTIONS),
    ({"application": "rare-app"}, MENTIONS),
    ({"queue": "root.rare", "application": "rare-app"}, MENTIONS),
    ({"since": NOW - timedelta(seconds=490)}, "decision_newest"),
    ({}, "decision_newest"),
]


@pytest.mark.parametrize("cursor", [None, Cursor(NOW - timedelta(seconds=480), 2**40)], ids=["first", "further back"])
def test_a_page_of_the_api_is_found_by_an_index(history: Cluster, reader: User, cursor: Cursor | None) -> None:
    """The first one, and one further back, which is entered where the one before it ended."""
    wrong = {}
    for asked, index in BY_REST:
        with CaptureQueriesContext(connection) as queries:
            mine = query_of(asked, reader).rows(reader, history).defer("document", "laws")
            shown, _next = NewestFirst({"limit": 10, "cursor": cursor}, "at", "number").page(mine)
        assert len(shown) == 10
        if unlike(index, plan := plan_of(queries), entered=cursor is not None):
            wrong[str(asked)] = plan
    assert not wrong


ON_THE_PAGE = [
    ({"node": "n7", "outcome": "all"}, "decision_node"),
    ({"source": "kueue", "outcome": "all"}, "decision_source"),
    ({"priority_class": "rare", "outcome": "all"}, "decision_class"),
    ({"node": "n7"}, "decision_node"),
    ({"source": "kueue"}, "decision_source"),
    ({"priority_class": "rare"}, "decision_class"),
    ({"queue": "root.rare", "outcome": "all"}, MENTIONS),
    ({"namespace": "rare", "outcome": "all"}, MENTIONS),
    ({"application": "rare-app", "outcome": "all"}, MENTIONS),
    ({"outcome": "not-eligible"}, "decision_outcome"),
    ({"outcome": "on-hold"}, "decision_state"),
    ({"outcome": "capacity-taken"}, "decision_ending"),
    ({"outcome": "failed-checks"}, "decision_against_laws"),
    ({"outcome": "repeated"}, "decision_again"),
]


@pytest.mark.parametrize("before", [None, Cursor(NOW - timedelta(seconds=480), 2**40)], ids=["first", "further back"])
def test_a_page_of_the_history_is_found_by_an_index(history: Cluster, reader: User, before: Cursor | None) -> None:
    """With the time that it always has."""
    wrong = {}
    for query, index in ON_THE_PAGE:
        filters = Filters.of({"range": "7d", **query}, NOW)
        with CaptureQueriesContext(connection) as queries:
            page(filters.query.rows(reader, history), before, None)
        if unlike(index, plan := plan_of(queries), entered=before is not None):
            wrong[str(query)] = plan
    assert not wrong


@pytest.fixture
def tenants_pods(cluster: Cluster) -> list[tuple[int, str, str]]:
    """Twenty thousand victims in twenty namespaces, and fifty of them in a dozen, which a page shows."""
    asks = [Decision(cluster=cluster, ask_uid=str(number), first_seen=NOW, last_seen=NOW) for number in range(100)]
    Decision.objects.bulk_create(asks)
    named = [(f"ns-{number % 20}", f"pod-{number}") for number in range(20_000)]
    Victim.objects.bulk_create(
        Victim(cluster=cluster, decision=asks[number % 100], uid=name, position=0, namespace=namespace, name=name)
        for number, (namespace, name) in enumerate(named)
    )
    return [(cluster.pk, *pod) for pod in named if pod[0] < "ns-2"][:50]


def test_the_pods_of_a_page_are_read_by_their_names(tenants_pods: list[tuple[int, str, str]]) -> None:
    """Not out of all that was preempted in their namespaces."""
    tenant = Tenant.objects.create(name="many", namespaces=[f"ns-{number}" for number in range(20)])
    user = User.objects.create_user("bob", role=User.Role.TENANT)
    user.tenants.add(tenant)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as queries:
        found = histories(user, tenants_pods)
    assert set(found) == set(tenants_pods)
    victims = next(one["sql"] for one in queries.captured_queries if 'FROM "history_victim"' in one["sql"])
    steps = [step for step in plan_of_statement(victims).splitlines() if "victim_pod" in step or "Index Cond" in step]
    assert steps
    of_victims = [step for step in steps if "ask_namespace" not in step]  # the asks are too few to tell
    by_namespace_alone = [
        step for step in of_victims if "namespace" in step and "AND name=" not in step and "(name)" not in step
    ]
    assert not by_namespace_alone
