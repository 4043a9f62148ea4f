"""A cluster that was watched for two minutes from noon on: Test fills the node, Prod asks under its guarantee."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.models import Draft
from tests.builders import ask, node, pod
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MS = int(NOON.timestamp() * 1000)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def cluster(clock: time_machine.Traveller, db: None) -> Cluster:
    """Only observed: nobody does anything for Prod. It is two minutes past noon."""
    cluster = add_cluster(mode="observe")
    tests = [pod(f"test-{number}", queue="test", node="n1", app="test", started_ms=MS - 60_000) for number in range(4)]
    watch = Watch(node("n1", 4), tests)
    run(cluster, watch)
    clock.shift(timedelta(seconds=30))
    asked = ask("prod-0", queue="prod", created_ms=MS + 30_000, unschedulable_ms=MS + 30_000)
    watch.state.pods[asked.uid] = asked
    run(cluster, watch)
    clock.shift(timedelta(seconds=90))
    return cluster


@pytest.fixture
def admin(db: None) -> User:
    return create_user(username="ada", role=User.Role.ADMIN)


@pytest.fixture
def draft(cluster: Cluster, admin: User) -> Draft:
    """Nothing is changed in it."""
    assert cluster.hierarchy is not None
    return start(hierarchy=cluster.hierarchy, name="next", author=admin)
