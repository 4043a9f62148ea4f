"""What a pass stored is found by what it is about."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Mention
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.worker import passes
from tests.worker.watch import Watch


@pytest.fixture
def stored(cluster: Cluster, watch: Watch) -> Decision:
    """Prod preempts Test."""
    passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)
    return Decision.objects.get(outcome="preempt")


def sought(cluster: Cluster, **asked: str) -> list[Decision]:
    """What the page of the history finds."""
    reader, _made = User.objects.get_or_create(username="ada", role=User.Role.ADMIN)
    return list(Filters.of(asked, timezone.now() + timedelta(minutes=1)).query.rows(reader, cluster))


def test_a_decision_is_found_by_either_side_and_all_above_it(cluster: Cluster, stored: Decision) -> None:
    """Once, however many of its pods there are; by nothing else."""
    assert stored.victims.exists()
    for queue in ("root", "root.prod", "root.test"):
        assert sought(cluster, queue=queue) == [stored]
    assert sought(cluster, namespace=stored.ask_namespace) == [stored]
    assert sought(cluster, application="test") == [stored]
    assert sought(cluster, application="test", queue="root.prod", namespace=stored.ask_namespace) == [stored]
    assert sought(cluster, queue="root.tes") == sought(cluster, application="other") == []


def test_what_it_is_about_no_more_does_not_find_it(cluster: Cluster, stored: Decision) -> None:
    """An ask that is told anew is found by what it is now."""
    stored.ask_queue = "root.else"
    stored.save()
    mention([stored])
    assert sought(cluster, queue="root.else") == [stored]
    assert sought(cluster, queue="root.prod") == []


def test_a_decision_takes_its_mentions_with_it(cluster: Cluster, stored: Decision) -> None:
    """As it is dropped."""
    assert Mention.objects.exists()
    stored.delete()
    assert not Mention.objects.exists()
