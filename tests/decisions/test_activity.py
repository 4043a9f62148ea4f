"""Pages of a queue find few among many: pods that wait, and decisions that evicted pods."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.activity import preemptions_of, waiting
from scheduler_admin.decisions.services.index import mention

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """One that nobody reads."""
    return Cluster.objects.create(name="prod")


@pytest.fixture
def ada(db: None) -> User:
    """Somebody who sees everything."""
    return User.objects.create_user("ada", role=User.Role.ADMIN)


def decided(cluster: Cluster, ask: str, minutes: int, *, evicts: bool = False, **fields: Any) -> Decision:
    """A decision for a pod of one queue so many minutes ago, perhaps to evict a pod of another."""
    at = NOW - timedelta(minutes=minutes)
    told = {"outcome": "preempt" if evicts else "no-candidate", "state": "recorded", "first_seen": at, "last_seen": at}
    row = Decision.objects.create(cluster=cluster, ask_uid=ask, ask_queue="root.a", **told | fields)
    if evicts:
        Victim.objects.create(
            decision=row, cluster=cluster, uid=f"of-{row.pk}", queue="root.b", position=0, state="exited"
        )
    mention([row])
    return row


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_preemptions_are_found_behind_decisions_that_evicted_nothing(cluster: Cluster, ada: User, limit: int) -> None:
    """The newest first, however many others are between them, and each once."""
    rows = [decided(cluster, str(ago), ago, evicts=ago % 5 == 0) for ago in range(1, 31)]
    expected = [row.pk for row in rows if row.outcome == "preempt"][:limit]
    for queue in ("root.a", "root.b", "root"):
        assert [row.pk for row in preemptions_of(ada, cluster, queue, NOW - DAY, NOW, limit)] == expected


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_pod_waits_by_the_decision_that_considered_it_last(cluster: Cluster, ada: User, limit: int) -> None:
    """Earlier ones are passed over, however many there are, and so are pods that got room since."""
    for ago in range(30, 10, -1):
        decided(cluster, "long", ago)
    last = decided(cluster, "long", 9, ask_since=NOW - DAY)
    decided(cluster, "gone", 8)
    decided(cluster, "gone", 7, state="closed")
    other = decided(cluster, "short", 6)
    found = waiting(ada, cluster, NOW - DAY, "root.a", limit)
    assert [row.pk for row in found] == [last.pk, other.pk][:limit]
