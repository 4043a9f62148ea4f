"""What another scheduler decided is decided again by its own rules later: what would have spared its victims."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from engine.analysis.anomalies import AnomalyKind
from engine.analysis.counterfactuals import Counterfactual
from engine.model.change import Change
from engine.model.objects import Preempted
from engine.observation.evictions import NotReplayedReason, decode
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Rewound, Victim
from scheduler_admin.decisions.replay.changes import answers, otherwise, own_changes, untold
from scheduler_admin.decisions.selectors.pods import of_pod
from scheduler_admin.journal.models import JournalSegment
from scheduler_admin.queues.models import Revision
from scheduler_admin.worker.passes import run_pass
from scheduler_admin.worker.tasks import work_out_changes
from tests.builders import ask, node, pod, queue, rewrite, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"a": queue("4"), "b": queue("1"), "c": queue()})


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's cluster, only observed."""
    made = add_cluster(TREE, mode="observe")
    rewrite(Revision.objects.all(), published_at=timezone.now() - timedelta(minutes=1))
    return made


def now_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def full() -> Watch:
    """One node, full of pods of b with priorities 1, 2 and 3, that a pass has seen; web waits for two cores."""
    running = [pod(f"b-{n}", queue="b", node="n1", priority=n + 1) for n in range(3)]
    return Watch(node("n1", 3), running, ask("web", queue="a", cpu=2, priority=1000, scheduler="yunikorn"))


def goes(watch: Watch, *names: str, by: str = "kube-scheduler") -> None:
    """These were told to go for web, and are on their way; then another pod came, and one more goes for itself."""
    about = {"ask_uid": "uid-web", "ask_namespace": "ns", "ask_name": "web"}
    marked = {"disruption": "PreemptionByScheduler", "disrupted_ms": now_ms()} if by == "kube-scheduler" else {}
    for name in names:
        one = watch.state.pods[f"uid-{name}"]
        watch.put(msgspec.structs.replace(one, terminating=True, **marked))
        told = Preempted(uid=one.uid, namespace="ns", name=name, at_ms=now_ms() - 3_000, node="n1", **about)
        if by == "kube-scheduler":
            watch.put(told)
        else:
            watch.state.yunikorn[f"event-{name}"] = told
    watch.put(pod("later", queue="c"))


def seen(cluster: Cluster, watch: Watch, *names: str, by: str = "kube-scheduler") -> Decision:
    """The decision that comes of it."""
    run_pass(cluster=cluster, watch=watch)
    goes(watch, *names, by=by)
    run_pass(cluster=cluster, watch=watch)
    return Decision.objects.get(source=by)


def changes(name: str) -> dict[Change, Counterfactual]:
    """What is stored with a victim of another scheduler's."""
    return {one.change: one for one in own_changes(Victim.objects.exclude(decision__source="engine").get(name=name))}


def said(name: str) -> str:
    """Why nothing is, in words."""
    victim = Victim.objects.exclude(decision__source="engine").get(name=name)
    return " ".join(map(text, untold(victim.decision, victim)))


def test_what_would_have_spared_a_victim_of_kube_scheduler_is_worked_out_by_policy_priority(cluster: Cluster) -> None:
    """On the cluster of just before, whatever the pass saw since: with priority 3, b-2 goes in its place."""
    seen(cluster, full(), "b-0", "b-1")
    assert set(Victim.objects.filter(decision__source="kube-scheduler").values_list("changes", flat=True)) == {None}
    work_out_changes()
    assert changes("b-1")[Change.PRIORITY].priority == 3
    assert set(changes("b-1")) <= {Change.PRIORITY, Change.OWN_REQUEST, Change.START}
    assert said("b-1") == ""


def test_of_yunikorn_by_its_own_rules(cluster: Cluster) -> None:
    """A guarantee counts for it, which kube-scheduler knows nothing of."""
    seen(cluster, full(), "b-0", "b-1", by="yunikorn")
    work_out_changes()
    assert Change.GUARANTEE in changes("b-0")
    assert changes("b-0")[Change.GUARANTEE].queue == "root.b"


def test_each_change_is_verified_by_deciding_again(cluster: Cluster) -> None:
    """What is told spares the victim: the decision that comes of it is told with it, without that pod."""
    seen(cluster, full(), "b-0", "b-1", by="yunikorn")
    work_out_changes()
    for name in ("b-0", "b-1"):
        assert all(f"ns/{name}" not in one.victims for one in changes(name).values())


def test_where_its_rules_come_to_something_else_nothing_is_told(cluster: Cluster) -> None:
    """Nobody knows what it would have done otherwise; the page says so."""
    row = seen(cluster, full(), "b-1", "b-2")
    work_out_changes()
    assert changes("b-1") == {}
    assert said("b-1").endswith("gives another result.")
    assert not answers(row)


def test_where_it_was_not_seen_the_page_says_so(cluster: Cluster) -> None:
    """The worker came later."""
    watch = full()
    goes(watch, "b-0", "b-1")
    watch.state.changes.clear()
    run_pass(cluster=cluster, watch=watch)
    work_out_changes()
    assert said("b-0") == "Not replayed: the state of the cluster just before was not observed or is no longer known."


def test_a_victim_that_joins_later_is_looked_at_with_the_whole(cluster: Cluster) -> None:
    """Of half of it its rules say something else."""
    watch = full()
    run_pass(cluster=cluster, watch=watch)
    goes(watch, "b-0", "b-1")
    late = watch.state.preempted.pop("event-uid-b-1")
    watch.put(msgspec.structs.replace(watch.state.pods["uid-b-1"], disruption="", disrupted_ms=None))
    run_pass(cluster=cluster, watch=watch)
    work_out_changes()
    assert changes("b-0") == {}
    watch.put(late)
    run_pass(cluster=cluster, watch=watch)
    work_out_changes()
    assert Change.PRIORITY in changes("b-1")
    assert Rewound.objects.count() == 1


def test_what_was_seen_of_the_second_victim_alone_is_decided_again_as_of_then(cluster: Cluster) -> None:
    """The first went before anybody looked; on what was seen it is on its way out already."""
    watch = full()
    run_pass(cluster=cluster, watch=watch)
    goes(watch, "b-0")
    watch.state.changes.clear()
    run_pass(cluster=cluster, watch=watch)
    assert decode(Decision.objects.get(source="kube-scheduler").document).untold is NotReplayedReason.NOT_SEEN
    goes(watch, "b-1")
    run_pass(cluster=cluster, watch=watch)
    row = Decision.objects.get(source="kube-scheduler")
    assert answers(row)
    assert {one.pod.name for one in otherwise(row).decision.to_evict} == {"b-1"}
    work_out_changes()
    assert Change.PRIORITY in changes("b-1")


def test_once_the_journal_is_gone_what_was_worked_out_stays_and_nothing_else_is(cluster: Cluster) -> None:
    """Its moment goes with the journal that it is told by."""
    row = seen(cluster, full(), "b-0", "b-1")
    JournalSegment.objects.all().delete()
    assert not Rewound.objects.exists()
    work_out_changes()
    assert changes("b-0") == {}
    assert said("b-0").endswith("is no longer stored.")
    assert not answers(Decision.objects.get(pk=row.pk))


def test_a_pass_that_sees_nothing_new_moves_nothing(cluster: Cluster) -> None:
    """What was worked out is not worked out again."""
    watch = full()
    seen(cluster, watch, "b-0", "b-1")
    work_out_changes()
    run_pass(cluster=cluster, watch=watch)
    assert Change.PRIORITY in changes("b-1")


def test_how_a_pod_went_is_told_before_how_ours_would_have_taken_it(cluster: Cluster) -> None:
    """Both were decided within seconds, and the one that is newer never happened."""
    watch = full()
    seen(cluster, watch, "b-0", "b-1")
    engine = Decision.objects.filter(source="engine", victims__name="b-1").latest("pk")
    Decision.objects.filter(pk=engine.pk).update(first_seen=datetime.now(UTC))
    olga = User.objects.create_user("olga", role=User.Role.AUDITOR)
    found = of_pod(olga, cluster, "ns", "b-1")
    assert [event.decision.source for event in found] == ["kube-scheduler", "engine"]


@pytest.mark.parametrize("by", ["kube-scheduler", "yunikorn"])
def test_what_would_have_changed_it_is_told_as_of_one_of_ours(cluster: Cluster, by: str) -> None:
    """The page and REST: least victims and troubles of the one, departures of the other."""
    row = seen(cluster, full(), "b-0", "b-1", by=by)
    found = otherwise(row)
    assert {one.pod.name for one in found.decision.victims} == {"b-0", "b-1"}
    if by == "kube-scheduler":
        assert AnomalyKind.GRACE in {one.trouble for one in found.troubles}
        assert found.least is not None


def test_evictions_for_the_evictors_own_reasons_say_nothing_of_it(cluster: Cluster) -> None:
    """Nobody made room: no change of a pod's would have kept a node from being drained."""
    watch = full()
    run_pass(cluster=cluster, watch=watch)
    told: dict[str, Any] = {"disruption": "EvictionByEvictionAPI", "disrupted_ms": now_ms() - 3_000}
    watch.put(msgspec.structs.replace(watch.state.pods["uid-b-0"], terminating=True, **told))
    run_pass(cluster=cluster, watch=watch)
    work_out_changes()
    assert (changes("b-0"), said("b-0")) == ({}, "")
