"""A queue of another path keeps its pods, its history and what is kept of it; what would lose its queue is counted."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from engine.formats import registry
from engine.formats.registry import Format
from engine.model.queue_tree import QueueTree
from engine.tree.orphans import Orphans
from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.clusters.models import Cluster, Pause
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.counts.selectors.filtered import count
from scheduler_admin.decisions.models import SavedFilter, Victim
from scheduler_admin.decisions.selectors.activity import preemptions_of
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.selectors.pods import of_pod
from scheduler_admin.decisions.services.saved_filters import save_filter
from scheduler_admin.journal.selectors import orphans
from scheduler_admin.ledger.models import LedgerEntry
from scheduler_admin.ledger.selectors import Asked, ledger
from scheduler_admin.notifications.models import Shortfall
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import OrphansError, publish, roll_back
from scheduler_admin.usage.selectors import series
from tests.builders import pod, queue, tree
from tests.usage.test_usage import START, sampled
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

PROD = queue("4", delay_ms=1)
RENAMED = tree({"prod": PROD, "trial": queue("2", delay_ms=1, former_paths=("root.test",))})
"""The tree of the cluster with Test under another name."""
LOST = tree({"prod": PROD, "trial": queue("2", delay_ms=1)})
"""The same without a word of the name before."""


def put(cluster: Cluster, shape: QueueTree, **how: bool) -> Revision:
    """Publish a tree over the one in force."""
    assert cluster.hierarchy is not None
    return publish(hierarchy=cluster.hierarchy, tree=shape, author=None, reason="why", **how)


@pytest.fixture
def ada(db: None) -> User:
    """Who sees everything."""
    return User.objects.create_user("ada", role=User.Role.ADMIN)


class TestOrphans:
    """Nothing strands silently."""

    def test_a_tree_that_leaves_pods_in_no_queue_is_refused(self, cluster: Cluster, watch: Watch) -> None:
        run(cluster, watch)
        with pytest.raises(OrphansError) as caught:
            put(cluster, LOST)
        assert caught.value.found == {"east": (Orphans(queue="root.test", running=4),)}
        assert orphans.sentence(caught.value.found["east"]) == "4 running pods would belong to no queue."

    def test_both_sorts_are_told(self, cluster: Cluster, watch: Watch) -> None:
        run(cluster, watch)
        found = orphans.orphans(cluster, tree({"other": queue()}))
        assert found is not None
        assert orphans.sentence(found) == "4 running pods and 1 pending pod would belong to no queue."

    def test_it_is_put_in_force_where_that_is_allowed(self, cluster: Cluster, watch: Watch) -> None:
        run(cluster, watch)
        assert put(cluster, LOST, allow_orphans=True).number == 2

    def test_going_back_is_asked_about_as_well(self, cluster: Cluster, watch: Watch, ada: User) -> None:
        put(cluster, tree({"prod": PROD, "test": PROD, "new": queue()}))
        watch.put(pod("new-0", queue="new", cpu="100m"))
        run(Cluster.objects.get(pk=cluster.pk), watch)
        first = cluster.hierarchy.revisions.get(number=1)
        with pytest.raises(OrphansError):
            roll_back(to=first, author=ada, reason="back")
        assert roll_back(to=first, author=ada, reason="back", allow_orphans=True).number == 3

    def test_a_renamed_queue_strands_nobody_and_its_pods_are_in_it(self, cluster: Cluster, watch: Watch) -> None:
        run(cluster, watch)
        put(cluster, RENAMED)
        run(cluster, watch)
        status = Cluster.objects.get(pk=cluster.pk).status
        assert status.queues["root.trial"]["used"]["cpu"] > 0
        assert status.unplaced == {}

    def test_the_command_takes_a_word_too(self, cluster: Cluster, watch: Watch, tmp_path: Path) -> None:
        run(cluster, watch)
        file = tmp_path / "tree.yaml"
        file.write_text(registry.write(Format.YUNIKORN, "", LOST).text)
        with pytest.raises(CommandError, match="4 running and 0 pending pods of east would belong to no queue"):
            call_command("import_queues", "main", str(file), reason="less")
        call_command("import_queues", "main", str(file), reason="less", allow_orphans=True)
        assert Revision.objects.filter(number=2).exists()

    def test_a_cluster_that_was_never_read_holds_nothing_back(self, cluster: Cluster) -> None:
        assert put(cluster, LOST).number == 2


class TestHistory:
    """What happened under the former path is the queue's."""

    def test_filters_find_decisions_of_both_names(self, cluster: Cluster, watch: Watch, ada: User) -> None:
        run(cluster, watch)
        put(cluster, RENAMED)
        now = timezone.now()
        filters = Filters(now=now, start=now - timedelta(days=1), queue="root.trial")
        [row] = filters.query.rows(ada, cluster)
        assert row.victims.get().queue == "root.test"

    def test_the_queue_s_page_has_its_preemptions_of_before(self, cluster: Cluster, watch: Watch, ada: User) -> None:
        run(cluster, watch, times=2)
        put(cluster, RENAMED)
        now = timezone.now()
        [row] = preemptions_of(ada, cluster, "root.trial", now - timedelta(days=1), now + timedelta(days=1), 10)
        assert row.victims.get().queue == "root.test"

    def test_a_chart_by_queue_calls_it_by_its_name_now(self, cluster: Cluster, watch: Watch, ada: User) -> None:
        run(cluster, watch, times=2)
        put(cluster, RENAMED)
        now = timezone.now()
        counts = count(ada, cluster, Filters(now=now, start=now - timedelta(days=1)), now)
        assert counts.lost.by_name() == {"root.trial": 1}
        table = counts.lost.by_bucket(lambda _at: 0, 1, ["root.trial"])
        assert table == [[1, 0]]

    def test_usage_goes_on(self, cluster: Cluster) -> None:
        sampled(cluster, 1, 2, 3)
        put(cluster, tree({"q": queue(former_paths=("root.q-0",))}))
        reader = User(role=User.Role.ADMIN)
        found = series(reader, cluster, "root.q", "cpu", START, START + timedelta(minutes=1))
        assert [point.used for point in found.points] == [1, 2, 3]

    def test_the_ledger_calls_it_by_its_name_now(self, cluster: Cluster, ada: User) -> None:
        month = datetime(2026, 11, 1, tzinfo=UTC).date()
        alike = {"cluster": cluster, "month": month, "source": "engine", "losing_namespace": "ns"}
        for path in ("root.test", "root.trial"):
            LedgerEntry.objects.create(**alike, losing_queue=path, gaining_queue="root.prod", pods=1)
        put(cluster, RENAMED)
        [(line, sums)] = ledger(ada, Asked(month=month)).items()
        assert (line.lost.queue, sums.pods) == ("root.trial", 2)


class TestKept:
    """What names the queue's path, and is no history, names its path now."""

    def test_pauses_shortfalls_and_saved_filters(self, cluster: Cluster, ada: User) -> None:
        pause(cluster=cluster, actor=ada, reason="look", queue="root.test")
        Shortfall.objects.create(cluster=cluster, queue="root.test", since=timezone.now())
        now = timezone.now()
        filters = Filters(now=now, start=now - timedelta(days=1), queue="root.test", node="n1", range="1d")
        save_filter(owner=ada, cluster=cluster, name="mine", filters=filters)
        put(cluster, RENAMED)
        assert Pause.objects.get().queue == "root.trial"
        assert Shortfall.objects.get().queue == "root.trial"
        assert SavedFilter.objects.get().address == "queue=root.trial&node=n1&range=1d"

    def test_two_pauses_of_it_become_one(self, cluster: Cluster, ada: User) -> None:
        pause(cluster=cluster, actor=ada, reason="look", queue="root.test")
        Pause.objects.create(cluster=cluster, queue="root.trial", by="ada", reason="early")
        put(cluster, RENAMED)
        assert Pause.objects.get().queue == "root.trial"

    def test_those_of_another_hierarchy_s_clusters_stay(self, cluster: Cluster, ada: User) -> None:
        other = Cluster.objects.create(name="west")
        Shortfall.objects.create(cluster=other, queue="root.test", since=timezone.now())
        put(cluster, RENAMED)
        assert Shortfall.objects.get().queue == "root.test"


class TestTenants:
    """A tenant's right to a pod goes by its namespace, whatever becomes of the tree."""

    def test_see_what_happened_to_their_pods_after_their_queue_is_gone(self, cluster: Cluster, watch: Watch) -> None:
        tenant = Tenant.objects.create(name="testers", namespaces=["ns"], subtrees=["root.test"])
        tim = User.objects.create_user("tim")
        Membership.objects.create(user=tim, tenant=tenant)
        run(cluster, watch, times=2)
        put(cluster, LOST, allow_orphans=True)
        tim = User.objects.get(pk=tim.pk)
        assert list(Cluster.objects.restrict(tim)) == [cluster]
        lost = Victim.objects.get()
        [event, *_] = of_pod(tim, cluster, lost.namespace, lost.name)
        assert event.victim == lost
