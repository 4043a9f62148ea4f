"""A tenant's pages of decisions are those of all rows, however they were found."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from msgspec import structs

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.api import own_pages
from scheduler_admin.decisions.models import Decision
from tests.api import builders
from tests.api.builders import NOW, blue_pod, decision, red_pod
from tests.api.conftest import client_of
from tests.api.decisions.test_decisions import URL, walk


@pytest.fixture
def both(red: Tenant) -> User:
    """Of two tenants: one decision may be about pods of either."""
    other = Tenant.objects.create(name="blue", namespaces=["canary-ns", "nothing-there"], subtrees=["root.blue"])
    return builders.user("both", red, other)


@pytest.fixture
def history(cluster: Cluster) -> Cluster:
    """Two dozen: of red, of blue, of both, of neither; some of one moment."""
    chance = Random(3)
    strange = structs.replace(red_pod(), namespace="else", queue="root.else")
    for number in range(24):
        ask = chance.choice([red_pod(f"p{number}"), blue_pod(f"p{number}"), strange])
        victims = chance.choice([(), (blue_pod(f"v{number}"),), (red_pod(f"v{number}"), blue_pod(f"w{number}"))])
        decision(cluster, ask=ask, victims=victims, first_seen=NOW - timedelta(minutes=number // 2))
    return cluster


def plain(user: User, **which: Any) -> list[int]:
    """All that the user sees of it, the newest first, the long way round."""
    rows = Decision.objects.restrict(user, "view").filter(**which)
    return [row.pk for row in sorted(rows, key=lambda row: (row.first_seen, row.pk), reverse=True)]


@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize("most", [1, 4, 500], ids="looks at {}".format)
def test_a_tenants_pages_are_what_they_see_of_all(
    both: User, history: Cluster, limit: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once each, also what two namespaces are in; with filters that leave few, and between times."""
    monkeypatch.setattr(own_pages, "LOOKED_AT", most)
    client = client_of(both)
    since, until = NOW - timedelta(minutes=9), NOW - timedelta(minutes=2)
    times = f"since={since:%Y-%m-%dT%H:%M:%SZ}&until={until:%Y-%m-%dT%H:%M:%SZ}"
    for query, which in (
        ("", {}),
        ("outcome=no-candidate", {"outcome": "no-candidate"}),
        ("source=kueue", {"source": "kueue"}),
        (times, {"first_seen__gte": since, "first_seen__lt": until}),
        ("node=n1", {"node": "n1"}),
    ):
        shown = walk(client, f"{URL}?limit={limit}&{query}")
        assert [pk for page in shown for pk in page] == plain(both, **which)
        assert all(len(page) == limit for page in shown[:-1])


def test_a_token_of_a_subtree_sees_pages_of_that(history: Cluster) -> None:
    """Whoever made it sees everything: it is found by the queue instead."""
    ada = builders.user("ada", role=User.Role.ADMIN)
    limited = client_of(ada, subtree="root.blue")
    about = [row.pk for row in Decision.objects.filter(ask_queue="root.blue")]
    about += [row.pk for row in Decision.objects.filter(victims__queue="root.blue")]
    assert about
    shown = [pk for page in walk(limited, f"{URL}?limit=4") for pk in page]
    assert shown == [pk for pk in plain(ada) if pk in about]


def test_a_tenant_of_nothing_sees_an_empty_page(history: Cluster) -> None:
    """Without a query that has no names."""
    nothing = Tenant.objects.create(name="none", namespaces=[], subtrees=["root.red"])
    assert walk(client_of(builders.user("norma", nothing)), URL) == [[]]


def test_the_newest_are_found_by_the_index_of_mentions(both: User, history: Cluster) -> None:
    """Each namespace's at its end: no mention is read but those of a page."""
    if connection.vendor != "sqlite":
        pytest.skip("another database reads few rows without their indexes")
    with CaptureQueriesContext(connection) as queries:
        assert client_of(both).get(URL).status_code == 200
    (found,) = [one["sql"] for one in queries.captured_queries if " UNION " in one["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {found.replace('%', '%%')}")
        steps = [row[3] for row in cursor.fetchall()]
    searched = [step for step in steps if "history_mention" in step]
    assert len(searched) == 3
    assert all("(about=?" in step for step in searched)
