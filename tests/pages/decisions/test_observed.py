"""What others evicted, on the pages: one sentence, the numbers that are known, and to tenants nothing of others."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from django.test import Client

from engine.model.decision import Outcome
from engine.model.objects import Preempted
from engine.observation.evictions import NotReplayedReason, decode, encode
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Rewound
from scheduler_admin.queues.models import Revision
from scheduler_admin.worker.passes import run_pass
from scheduler_admin.worker.tasks import work_out_changes
from tests.builders import ask, node, pod, queue, rewrite, tree
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue(), "tenant-2.b": queue("2"), "tenant-2.c": queue()})
SAYS = "0/1 nodes are available: 1 Insufficient cpu."


@pytest.fixture
def cluster(db: None) -> Cluster:
    """web of tenant-1 has taken two pods of tenant-2 by kube-scheduler's hand; big waits."""
    now_ms = int(datetime.now(UTC).timestamp() * 1000)
    running = [pod(f"batch-{n}", queue="tenant-2.b", namespace="two", node="n1") for n in range(2)]
    gone = {"terminating": True, "disruption": "PreemptionByScheduler", "disrupted_ms": now_ms}
    victims = [msgspec.structs.replace(one, **gone) for one in running]
    rest = pod("batch-2", queue="tenant-2.b", namespace="two", node="n1", priority=5)
    web = ask("secret-web", queue="tenant-1.a", namespace="one", priority=98765, cpu=3)
    nominated = msgspec.structs.replace(web, nominated_node="n1", unschedulable_message=SAYS)
    big = ask("big", queue="tenant-2.c", namespace="two", cpu=64, unschedulable_message=SAYS)
    told = {"ask_uid": web.uid, "ask_namespace": "one", "ask_name": "secret-web", "node": "n1", "at_ms": now_ms}
    events = [Preempted(uid=one.uid, namespace="two", name=one.name, **told) for one in victims]
    made = add_cluster(TREE, mode="observe")
    rewrite(Revision.objects.all(), published_at=datetime.now(UTC) - timedelta(minutes=1))
    run_pass(cluster=made, watch=Watch(node("n1", 4), running, rest, web, big, nominated, victims, events))
    return made


@pytest.fixture
def row(cluster: Cluster) -> Decision:
    return Decision.objects.get(source="kube-scheduler")


@pytest.fixture
def tina(db: None) -> Client:
    """A tenant who owns namespace two and the queues of tenant-2."""
    return client_of(rows.tenant_user("tina", "root.tenant-2", ("two",)))


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode().partition("<main")[2].partition("</main>")[0]


def test_the_decision_reads_in_one_sentence(ada: Client, row: Decision) -> None:
    """Who, whom, for whom, why; and by whom."""
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    for shown in (
        "kube-scheduler preempted <code>batch-0, batch-1</code> on <code>n1</code> for <code>secret-web</code>",
        "because their priorities (up to 0) are below 98765",
        "kube-scheduler preempted 2 pods across the fence of tenant-1.",
        "kube-scheduler left b 1 cpu below its guarantee of 2",
        "priority 0 &lt; 98765",
        "across the fence of tenant-1",
        "Evicted by: kube-scheduler.",
        "waiting to be bound",
    ):
        assert shown in html
    assert "Policy" not in html


def test_the_queues_stand_there_before_and_after(ada: Client, row: Decision) -> None:
    """b had three cores and is left with one; nothing else is claimed."""
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    assert "victim’s queue" in html
    assert "Safety checks" not in html


def test_ours_is_told_beside_it(ada: Client, row: Decision) -> None:
    """What the scheduler itself said, whether we agree, and the trace of why; all of it with the row."""
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    assert "Replay of this decision" in html
    assert f"The scheduler reports: {SAYS}" in html
    assert "gives the same result: the same node and victims." in html
    assert "1 eligible pod was spared" in html
    assert "can be preempted, but was spared: the pending pod fits beside it" in html
    document = ada.get(f"/api/v1/decisions/{row.pk}").json()["document"]
    told = document["hindsight"]
    assert (told["decision"]["policy"], told["decision"]["node"], told["nodes"]) == ("priority", "n1", 1)
    assert [one["pod"]["name"] for one in told["decision"]["trace"]["reprieved"]] == ["batch-2"]


def test_where_it_was_not_decided_again_the_page_says_so(ada: Client, row: Decision) -> None:
    """As when a worker was started in between."""
    seen = msgspec.structs.replace(decode(row.document), hindsight=None, untold=NotReplayedReason.NOT_SEEN)
    Decision.objects.update(document=encode(seen).decode())
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    assert "Not replayed: the state of the cluster just before was not observed" in html
    assert "spared" not in html


def test_another_answer_is_told_with_who_would_have_gone(ada: Client, row: Decision) -> None:
    """Theirs was this node; ours is another."""
    seen = decode(row.document)
    assert seen.hindsight is not None
    other = msgspec.structs.replace(seen.hindsight.decision, node="n2", victims=seen.hindsight.decision.trace.reprieved)
    ours = msgspec.structs.replace(seen.hindsight, decision=other)
    Decision.objects.update(document=encode(msgspec.structs.replace(seen, hindsight=ours)).decode())
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    for shown in (
        "gives another node: <code>n2</code>, with 1 victim.",
        "The replay would have preempted <code>two/batch-2",
    ):
        assert shown in html
    assert "The reason is unknown." in html


def test_the_history_says_who_and_which_rule(ada: Client, row: Decision) -> None:
    """Reason and flags in a few words; the filter by source finds it."""
    for path in ("/clusters/east/history/", "/clusters/east/history/?source=kube-scheduler&stack=source"):
        html = text(ada, path)
        assert "higher priority · across a fence · below a guarantee" in html
    assert "across a fence" not in text(ada, "/clusters/east/history/?source=engine")


def test_a_victims_tenant_reads_why_and_nothing_of_the_other_side(tina: Client, row: Decision) -> None:
    """The asker's queue and the fence by name; no pod, no priority, no namespace of the asker."""
    html = text(tina, f"/pods/east/two/batch-0/?decision={row.pk}")
    assert "kube-scheduler preempted <code>batch-0</code> on <code>n1</code> to make room for a pod of a" in html
    assert "kube-scheduler preempted 1 pod across the fence of tenant-1." in html
    assert "kube-scheduler left b 1 cpu below its guarantee of 2" in html
    for hidden in ("secret-web", "98765", ">one<"):
        assert hidden not in html
    assert "preempted" in text(tina, "/pods/")


def test_a_victims_tenant_reads_what_would_have_spared_it_as_of_one_of_ours(
    tina: Client, ada: Client, row: Decision
) -> None:
    """One sentence, what it meant, and what of its own would have changed it: staff read the same."""
    work_out_changes()
    page = text(tina, "/pods/east/two/batch-0/")
    for said in (page, text(ada, f"/clusters/east/decisions/{row.pk}/")):
        assert "What would have prevented this eviction" in said
        assert "<code>batch-0</code> would be spared if its priority were 5." in said
    assert "Impact" in page
    assert not any(secret in page for secret in ("secret-web", "98765"))


def test_where_its_own_rules_come_to_something_else_the_pages_say_so(tina: Client, ada: Client, row: Decision) -> None:
    """And where it was not seen; nothing is made up."""
    seen = decode(row.document)
    assert seen.hindsight is not None
    other = msgspec.structs.replace(seen.hindsight.decision, outcome=Outcome.NO_CANDIDATE, victims=())
    for changed, said in (
        (
            msgspec.structs.replace(seen, hindsight=msgspec.structs.replace(seen.hindsight, decision=other)),
            "What would have spared it is unknown",
        ),
        (
            msgspec.structs.replace(seen, hindsight=None, untold=NotReplayedReason.TOO_MANY),
            "there were so many preemptions at",
        ),
        (seen, "the state of the cluster just before is no longer stored"),
    ):
        Decision.objects.filter(pk=row.pk).update(document=encode(changed).decode())
        row.victims.update(changes=[])
        Rewound.objects.all().delete()
        for page in (text(tina, "/pods/east/two/batch-0/"), text(ada, f"/clusters/east/decisions/{row.pk}/")):
            assert said in page


def test_by_rest_a_tenant_gets_their_own_part_of_it(tina: Client, ada: Client, row: Decision) -> None:
    """Their victims; of the ask its queue; no document, no detail, no notes."""
    answer = tina.get(f"/api/v1/decisions/{row.pk}")
    seen = answer.json()
    assert (seen["source"], seen["reason"], seen["pending_pod"]["queue"]) == (
        "kube-scheduler",
        "higher-priority",
        "root.tenant-1.a",
    )
    assert (seen["reason_detail"], seen["document"], seen["duration_seconds"], len(seen["victims"])) == (
        None,
        None,
        None,
        2,
    )
    assert "secret-web" not in answer.content.decode()
    whole = ada.get(f"/api/v1/decisions/{row.pk}").json()
    assert (whole["reason_detail"], whole["document"]["ask"]["name"]) == ("across-fence below-guarantee", "secret-web")


def test_an_askers_tenant_reads_at_whose_cost(row: Decision) -> None:
    """The victims' queue by name, no pod of it."""
    olga = client_of(rows.tenant_user("olga", "root.tenant-1", ("one",)))
    html = text(olga, f"/pods/east/one/secret-web/?decision={row.pk}")
    assert "kube-scheduler evicted pods of b from <code>n1</code> to make room for <code>secret-web</code>." in html
    for hidden in ("batch-0", "below its guarantee"):
        assert hidden not in html


def test_why_an_ask_waits_is_told_in_its_schedulers_words_too(ada: Client, tina: Client, cluster: Cluster) -> None:
    """Where no guarantee is given our rules say little: the scheduler's own message stands beside them."""
    waiting = Decision.objects.get(ask_name="big")
    for html in (
        text(ada, "/clusters/east/queues/root.tenant-2.c/"),
        text(ada, f"/clusters/east/decisions/{waiting.pk}/"),
        text(tina, f"/pods/east/two/big/?decision={waiting.pk}"),
    ):
        assert "neither its queue nor any parent queue has a guarantee for that" in html
        assert f"The scheduler reports: {SAYS}" in html


def test_a_queue_says_who_makes_room_for_its_ask(ada: Client, row: Decision) -> None:
    """It is on its way; nothing else is wrong with it."""
    assert "kube-scheduler evicted pods of b from" in text(ada, "/clusters/east/queues/root.tenant-1.a/")


def test_what_is_not_known_is_a_dash(ada: Client, db: None) -> None:
    """An Event of an hour ago: names, and no numbers made up."""
    at_ms = int(datetime.now(UTC).timestamp() * 1000) - 3_000_000
    old = Preempted(uid="u", namespace="two", name="batch-9", at_ms=at_ms, node="n1", ask_uid="a", ask_name="web")
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=Watch(node("n1", 4), old))
    html = text(ada, f"/clusters/east/decisions/{Decision.objects.get().pk}/")
    assert "kube-scheduler preempted <code>batch-9</code> on <code>n1</code> for <code>web</code>." in html
    assert "Only the name of 1 victim is known" in html
    assert '<td class="n">–</td>' in html


@pytest.mark.parametrize(
    ("reason", "source", "sentence"),
    [
        ("EvictionByEvictionAPI", "api-eviction", "was evicted through the Eviction API"),
        (
            "DeletionByTaintManager",
            "taint-manager",
            "1 pod on <code>n1</code> was deleted because it does not tolerate",
        ),
        ("DeletionByPodGC", "pod-gc", "was deleted because the node no longer exists"),
        (
            "TerminationByKubelet",
            "kubelet",
            "The kubelet of <code>n1</code> ended 1 pod because the node ran short.",
        ),
    ],
)
def test_other_sources_have_their_own_sentence(ada: Client, reason: str, source: str, sentence: str) -> None:
    """Nobody asked for the room, or nobody says who."""
    told = {"terminating": True, "disruption": reason, "disrupted_ms": int(datetime.now(UTC).timestamp() * 1000)}
    watch = Watch(node("n1", 4), pod("x", queue="tenant-2.c", node="n1", **told))
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=watch)
    made = Decision.objects.get()
    assert made.source == source
    assert sentence in text(ada, f"/clusters/east/decisions/{made.pk}/")
    assert "evicting" in text(ada, "/clusters/east/history/")


def test_decisions_without_queues_are_at_home_on_every_page(ada: Client, db: None) -> None:
    """Nobody asked, or it is not known of which queue victims were: pages leave out what is missing."""
    at_ms = int(datetime.now(UTC).timestamp() * 1000) - 30_000
    told = {"terminating": True, "disruption": "EvictionByEvictionAPI", "disrupted_ms": at_ms}
    old = Preempted(uid="u", namespace="two", name="gone", at_ms=at_ms, node="n1", ask_uid="a", ask_name="web")
    lost = pod("lost", namespace="three", node="n1", **told)
    made = add_cluster(TREE, mode="observe")
    run_pass(cluster=made, watch=Watch(node("n1", 4), pod("x", queue="tenant-2.c", node="n1", **told), lost, old))
    assert Decision.objects.exclude(source="engine").count() == 2
    for path in ("/clusters/", "/pods/", *(f"/clusters/east/{page}" for page in (
        "queues/", "queues/root.tenant-2.c/", "queues/root/", "history/", "history/?stack=reason", "history.csv",
        "history.json", "fences/", "fences/?queue=root.tenant-2.c",
    ))):  # fmt: skip
        answer = ada.get(path)
        assert answer.status_code == 200, path
    for row in Decision.objects.all():
        text(ada, f"/clusters/east/decisions/{row.pk}/")
        assert ada.get(f"/api/v1/decisions/{row.pk}").json()["duration_seconds"] is None
