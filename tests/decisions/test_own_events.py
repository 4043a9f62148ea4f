"""Pages of a tenant's events are those of all there are, however they were found."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest
from msgspec import structs

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.selectors import pods
from scheduler_admin.decisions.selectors.pods import Search, events
from tests.api import builders
from tests.api.builders import NOW, blue_pod, decision, red_pod

Order = tuple[object, int, int]


@pytest.fixture
def both(db: None) -> User:
    """Of two tenants: one decision may be about pods of either."""
    other = Tenant.objects.create(name="blue", namespaces=["canary-ns", "nothing-there"], subtrees=["root.blue"])
    return builders.user("both", builders.red_tenant(), other)


@pytest.fixture
def history(db: None) -> list[Cluster]:
    """Forty decisions in two clusters: of red, of blue, of both, of neither; four of each moment."""
    clusters = [builders.cluster(), builders.cluster("other")]
    chance = Random(4)
    strange = structs.replace(red_pod(), namespace="else", queue="root.else")
    for number in range(40):
        ask = chance.choice([red_pod(f"p{number}"), blue_pod(f"p{number}"), strange])
        victims = chance.choice([(), (blue_pod(f"v{number}"),), (red_pod(f"v{number}"), blue_pod(f"w{number}"))])
        decision(chance.choice(clusters), ask=ask, victims=victims, first_seen=NOW - timedelta(minutes=number // 4))
    return clusters


def walk(user: User, search: Search, size: int) -> Iterator[list[Order]]:
    """Every page, by the places of its events."""
    before = ""
    while True:
        page = events(user, search, before, size)
        yield [event.order for event in page.events]
        if not (before := page.older):
            return


@pytest.mark.parametrize(
    "search",
    [
        Search(),
        Search(kind="preempted"),
        Search(kind="waiting"),
        Search(namespace="red"),
        Search(namespace="canary-ns", kind="preempted"),
        Search(namespace="else"),
        Search(text="p1"),
    ],
    ids=str,
)
def test_pages_of_events_are_those_of_all(
    both: User, history: list[Cluster], search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event once, the newest first, as all of them put in order are; however many are looked at at a time."""
    assert history
    with monkeypatch.context() as plainly:
        plainly.setattr(pods, "_newest_own", lambda *_asked: None)
        plain = [event.order for event in events(both, search, size=1000).events]
    assert bool(plain) is (search.namespace != "else")
    assert plain == sorted(plain, reverse=True)
    for looked_at, size in ((1, 7), (6, 2), (6, 7), (6, 100)):
        monkeypatch.setattr(pods, "_LOOKED_AT", looked_at)
        monkeypatch.setattr(pods, "_LOOKED_AT_OF_ONE", looked_at)
        shown = list(walk(both, search, size))
        assert [order for page in shown for order in page] == plain, (looked_at, size)
        assert all(len(page) == size for page in shown[:-1]), (looked_at, size)


def test_who_belongs_to_nothing_has_no_events(history: list[Cluster]) -> None:
    """Without a query that has no names."""
    assert events(builders.user("nobody"), Search()).events == []


def test_of_very_many_namespaces_all_events_are_put_in_order(
    both: User, history: list[Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many looks at an index take longer than to read them."""
    few = list(walk(both, Search(), 7))
    monkeypatch.setattr(pods, "_MOST_NAMES", 5)
    assert list(walk(both, Search(), 7)) == few


@pytest.mark.parametrize("pks", [f"{2**63}_0", f"1_{2**63}", "-1_0", "1_-1"])
def test_a_place_that_no_row_has_is_none(both: User, history: list[Cluster], pks: str) -> None:
    """The page is the first one then."""
    assert events(both, Search(), f"{NOW.isoformat()}_{pks}") == events(both, Search())
