"""A tenant's pods: everything about their own, and of others a queue's name at most."""

from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone

from engine.model.decision import decode, encode
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.pods import Search, events
from tests.pages import moments, rows

pytestmark = pytest.mark.django_db
WORKER = "vision-train-0042-worker-3"
VICTIM = "embed-batch-7f9c-x8v2d"


@pytest.fixture
def cluster():
    """A cluster where training took pods of queue-b, and asks of every kind wait."""
    made = rows.cluster("demo")
    rows.status(made)
    for row in moments.decide(made):
        if row.outcome == "preempt":
            moments.carried_out(row)
    ClusterStatus.objects.update(pass_at=Decision.objects.latest("last_seen").last_seen)
    return made


@pytest.fixture
def search(client):
    """A browser of queue-b's tenant, whose pods were taken."""
    client.force_login(rows.tenant_user("tess", "root.tenant-1.queue-b", ("search",)))
    return client


@pytest.fixture
def vision(client):
    """A browser of training's tenant, who asked."""
    client.force_login(rows.tenant_user("vic", "root.tenant-1.training", ("vision",)))
    return client


def names(response) -> list[str]:
    """The pods of a list."""
    return [line.event.name for line in response.context["rows"]]


def test_the_list_holds_victims_and_asks_of_their_own(cluster, search):
    """Nobody else's."""
    assert sorted(names(search.get("/pods/"))) == ["embed-batch-7f9c-late", VICTIM, "rank-batch-31d0-exec-5"]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"q": "embed"}, 2),
        ({"q": "rank-batch-31d0"}, 1),
        ({"q": "search"}, 3),
        ({"q": "search/embed"}, 2),
        ({"q": "vision"}, 0),
        ({"q": "exec"}, 0),
        ({"show": "preempted"}, 2),
        ({"show": "pending"}, 1),
        ({"namespace": "search"}, 3),
        ({"namespace": "vision"}, 0),
        ({"show": "nonsense"}, 3),
    ],
)
def test_the_search_is_in_the_address(cluster, search, query, number):
    """Pods and applications by how they begin, namespaces whole."""
    assert len(names(search.get("/pods/", query))) == number


def test_what_happened_to_many_pods_at_once_is_one_row(search):
    """Their names unfold; what happened at another time, or for another reason, has its own row."""
    cluster, at = rows.cluster("west"), timezone.now()
    rows.status(cluster)
    same = {"ask_namespace": "search", "ask_application": "embed", "first_seen": at, "last_seen": at}
    for _ in range(4):
        rows.decision(cluster, "root.tenant-1.queue-b", **same)
    rows.decision(cluster, "root.tenant-1.queue-b", **same | {"ask_application": "rank"})
    response = search.get("/pods/")
    assert [len(group) for group in response.context["groups"]] == [1, 4]
    html = response.content.decode()
    assert "<summary>4 pods</summary>" in html
    assert html.count("<code>vision-train-0042-worker-") == 5


@pytest.mark.parametrize(
    ("query", "found"), [("Job/emb", [VICTIM]), ("Job/late", ["embed-batch-7f9c-late"]), ("Job/x", [])]
)
def test_pods_are_found_by_their_owner(cluster, search, query, found):
    """By its kind, and how its name begins; victims and asks alike, and nobody else's."""
    Victim.objects.filter(name=VICTIM).update(controller="Job/embed")
    Decision.objects.filter(ask_name="embed-batch-7f9c-late").update(ask_controller="Job/late")
    Victim.objects.exclude(namespace="search").update(controller="Job/embed")
    assert names(search.get("/pods/", {"q": query})) == found


def test_why_it_was_preempted(cluster, search):
    """Its own queue's numbers, what happened to it, what would have prevented it."""
    shown = search.get(f"/pods/demo/search/{VICTIM}/").context["why"]
    assert text(shown.sentence) == (
        f"{VICTIM} was evicted from gpu-04 because training was below its guarantee while queue-b was "
        "4 nvidia.com/gpu above its own."
    )
    assert shown.side.path == "root.tenant-1.queue-b"
    stays = f"{VICTIM} would be spared if"
    found = [text(each) for each in shown.prevention]
    assert found[0] == f"{stays} the guarantee of queue-b were above 18500m cpu. It is 12 cores now."
    assert found[2] == (
        f"{stays} the guarantee of queue-b were above 4 nvidia.com/gpu. It is 2 nvidia.com/gpu now. "
        "The guarantee or the max of tenant-1 must be raised too."
    )
    assert f"{stays} its priority were 1001." in found
    assert [each.offset for each in shown.happened] == ["0 s", "+0.1 s", "+17.6 s"]


def meant(client) -> list[str]:
    """What it meant for the victim's people, but for the work that it lost."""
    found = [text(each) for each in client.get(f"/pods/demo/search/{VICTIM}/").context["why"].meant]
    return [sentence for sentence in found if "lost work" not in sentence.lower()]


def lost(client) -> str:
    """What is said of the work that it lost."""
    found = [text(each) for each in client.get(f"/pods/demo/search/{VICTIM}/").context["why"].meant]
    return " ".join(sentence for sentence in found if "work" in sentence or "annotation" in sentence)


def test_the_work_that_it_lost_is_told(cluster, search):
    """Since its start or its last checkpoint; what is no time is told, and nothing where the start is not known."""
    victim = Victim.objects.filter(name=VICTIM)
    at = victim.get().evicted_at
    victim.update(started_at=at - timedelta(hours=4, minutes=12))
    held = "cpu 4500m, memory 24Gi, nvidia.com/gpu 1"
    work = "18.9 core-hours, 100.8 GiB-hours of memory, 4.2 gpu-hours"
    assert lost(search) == f"Lost work: 4 h 12 min of {held} since it started, which is {work}."
    victim.update(checkpoint_at=at - timedelta(minutes=10))
    work = "0.75 core-hours, 4.0 GiB-hours of memory, 0.17 gpu-hours"
    assert lost(search) == f"Lost work: 10 min of {held} since its last checkpoint, which is {work}."
    victim.update(checkpoint_at=at)
    assert lost(search) == "No work was lost: it had just written a checkpoint."
    victim.update(started_at=None, checkpoint_at=None, odd_checkpoint="<noon>")
    told = "which is not a time such as 2026-01-31T12:00:00Z, and is ignored."
    assert lost(search) == f"Its annotation scheduler-admin.io/last-checkpoint is “<noon>”, {told}"


def test_from_three_times_a_day_on_it_is_said_how_often(cluster, search):
    """Of the application, up to then."""
    victims = Victim.objects.filter(name=VICTIM)
    victims.update(preempted_in_day=2)
    assert not any("24 hours" in sentence for sentence in meant(search))
    victims.update(preempted_in_day=3)
    assert "embed-batch-7f9c was preempted 3 times in the 24 hours before." in meant(search)


def test_what_it_meant_is_told(cluster, search):
    """How it could stop, and what its controller did."""
    victim = Victim.objects.get(name=VICTIM)
    assert meant(search)[0] == "It had 30 seconds to stop and took 17.5 s."
    assert meant(search)[1].endswith("may create a replacement pod; there is none yet.")
    at = victim.evicted_at
    Victim.objects.filter(pk=victim.pk).update(
        successor="embed-2", recreated_at=at - timedelta(seconds=0.1), gone_at=at + timedelta(seconds=30.4)
    )
    assert meant(search) == [
        "It had 30 seconds to stop and used all of them. Processes that were still running were then killed.",
        (
            "ReplicaSet embed-batch-7f9c created the replacement pod embed-2 0.0 s after the eviction. "
            "It has not started yet."
        ),
    ]
    Victim.objects.filter(pk=victim.pk).update(running_at=at + timedelta(seconds=95))
    assert meant(search)[1].endswith("embed-2 0.0 s after the eviction. It started 2 min after the eviction.")
    Victim.objects.filter(pk=victim.pk).update(controller="", gone_at=None, state=Victim.State.EVICTED)
    assert meant(search) == [
        "It has 30 seconds to stop after its eviction.",
        "It is not recreated: no controller owns it.",
    ]


def test_one_that_was_found_to_be_gone_much_later_is_not_said_to_have_been_killed(cluster, search):
    """It may have stopped at once, with nobody looking."""
    victim = Victim.objects.get(name=VICTIM)
    Victim.objects.filter(pk=victim.pk).update(gone_at=victim.evicted_at + timedelta(minutes=10))
    assert not any("seconds to stop and" in sentence for sentence in meant(search))


def test_what_would_have_prevented_it_is_said_to_be_under_way(cluster, search):
    """It is worked out after the decision, and comes by itself."""
    Victim.objects.filter(name=VICTIM).update(changes=None)
    page = search.get(f"/pods/demo/search/{VICTIM}/").content.decode()
    assert "Still being computed." in page
    Victim.objects.filter(name=VICTIM).update(changes=[])
    page = search.get(f"/pods/demo/search/{VICTIM}/").content.decode()
    assert "What would have prevented this eviction" not in page


def test_a_guarantee_that_would_have_prevented_it_does(cluster):
    """The engine itself, asked again under a tree with one more GPU than the victims left, takes nothing."""
    at = timezone.now()
    _snapshot, before = moments.considered(at, only=WORKER)
    assert before[0].decision.evicts
    queue_b = moments.TREE["root.tenant-1.queue-b"]
    for resource, kept in (("nvidia.com/gpu", 4), ("cpu", 18_500), ("memory", 104 * 2**30)):
        for guaranteed, evicts in ((kept, True), (kept + 1, False)):
            changed = moments.with_guarantee(queue_b, resource, guaranteed)
            _snapshot, (after, *_rest) = moments.considered(at, moments.replaced(changed), only=WORKER)
            assert after.decision.evicts is evicts


def test_why_it_waits(cluster, search):
    """The reason with the queue's own numbers, and what would let it preempt."""
    shown = search.get("/pods/demo/search/embed-batch-7f9c-late/").context["why"]
    assert text(shown.sentence) == "embed-batch-7f9c-late found no room, and no pod was evicted for it."
    assert "queue-b uses 26500m cpu, and its guarantee is 12." in text(shown.because[0])
    assert [text(each).split(" (")[0] for each in shown.prevention] == [
        "A guarantee of more than 26500m cpu for queue-b",
        "A guarantee of more than 152Gi memory for queue-b",
        "A guarantee of more than 6 nvidia.com/gpu for queue-b",
    ]


@pytest.mark.parametrize(("later", "word"), [(timedelta(), "pending"), (timedelta(seconds=1), "was pending")])
def test_an_ask_is_pending_while_passes_consider_it(cluster, search, later, word):
    """One that the last pass did not is no longer: it has got room, or has gone."""
    row = Decision.objects.get(ask_name="embed-batch-7f9c-late")
    ClusterStatus.objects.update_or_create(cluster=cluster, defaults={"pass_at": row.last_seen + later})
    assert search.get("/pods/demo/search/embed-batch-7f9c-late/").context["why"].word == word


def test_what_would_make_it_eligible_does(cluster):
    """The engine itself, asked again under a tree that has all of it, and under one that lacks a part."""
    at, late = timezone.now(), "embed-batch-7f9c-late"
    queue_b = moments.TREE["root.tenant-1.queue-b"]
    uses = {"cpu": 26_500, "memory": 152 * 2**30, "nvidia.com/gpu": 6}
    for missing in (None, *uses):
        changed = queue_b
        for resource, used in uses.items():
            if resource != missing:
                changed = moments.with_guarantee(changed, resource, used + 1)
        _snapshot, (decided,) = moments.considered(at, moments.replaced(changed), only=late)
        eligible = decided.decision.outcome != "not-eligible"
        assert eligible is (missing is None)


def test_why_it_got_room(cluster, vision):
    """Of those who paid for it only the queue."""
    shown = vision.get(f"/pods/demo/vision/{WORKER}/").context["why"]
    assert text(shown.sentence) == (
        f"{WORKER} needed 2 nvidia.com/gpu on one node while training was 2 nvidia.com/gpu below its guarantee, "
        "so pods of queue-b were evicted from gpu-04."
    )


FOREIGN = ["bidder", "replay", "ads-prod", "bids-prod", "metrics-gateway", "keeper", "tenant-2"]
FOREIGN_TO_SEARCH = [*FOREIGN, "vision", "-0041", "-0042"]  # with the dash: they may be digits of a moment
FOREIGN_TO_VISION = [*FOREIGN, "embed", "rank-batch", "notebook", ">search<", "/search"]


def _pages(client, name: str):
    """Every page that a tenant can open, as a person and as its own refresh."""
    listed = client.get("/pods/")
    urls = ["/pods/", "/pods/?q=vision", "/pods/?q=search"]
    urls += [f"/pods/demo/{line.event.namespace}/{line.event.name}/" for line in listed.context["rows"]]
    assert len(urls) > 3, name
    for url in urls:
        for headers in ({}, {"HX-Request": "true"}):
            response = client.get(url, headers=headers)
            assert response.status_code == 200
            yield url, response.content.decode()


def test_nothing_of_other_tenants_is_in_the_victims_pages(cluster, search):
    """Neither names of pods, namespaces and applications, nor queues that took no part."""
    for url, page in _pages(search, "search"):
        body = page.replace("?q=vision", "").replace('value="vision"', "")
        for word in FOREIGN_TO_SEARCH:
            assert word not in body, (url, word)


def test_nothing_of_other_tenants_is_in_the_askers_pages(cluster, vision):
    """Who paid is not told, beyond the queue."""
    for url, page in _pages(vision, "vision"):
        for word in FOREIGN_TO_VISION:
            assert word not in page, (url, word)


def test_the_other_sides_numbers_are_kept_back(cluster, search, vision):
    """A claim on a queue above that is not the tenant's own is told without amounts."""
    (row,) = Decision.objects.filter(ask_name="embed-batch-7f9c-late")
    decision = decode(row.document.encode())
    queues = tuple(
        msgspec.structs.replace(one, guaranteed={} if one.path == decision.ask.queue else one.guaranteed)
        for one in decision.trace.queues
    )
    trace = msgspec.structs.replace(decision.trace, queues=queues)
    changed = msgspec.structs.replace(decision, trace=trace, detail="root.tenant-1 cpu")
    Decision.objects.filter(pk=row.pk).update(document=encode(changed).decode())
    search.force_login(User.objects.get(username="tess"))
    shown = search.get("/pods/demo/search/embed-batch-7f9c-late/").context["why"]
    assert text(shown.because[0]).startswith("Its queue already uses its whole guarantee.")
    assert shown.prevention == ()


def test_an_ask_is_not_theirs_because_its_victims_are(cluster, search):
    """The decision is theirs to see in part; the asker's pod is not."""
    assert search.get(f"/pods/demo/vision/{WORKER}/").status_code == 404


def test_the_pages_of_an_only_cluster_stay_in_reach(cluster, search):
    """Of several none is chosen."""
    queues = 'href="/clusters/demo/queues/"'
    assert queues in search.get("/pods/").content.decode()
    rows.cluster("other", rows.revision("other"))
    assert queues not in search.get("/pods/").content.decode()


def test_a_pod_with_several_decisions_lists_the_others(cluster, search):
    """How it went first, then the newest; any of them by its address."""
    moments.decide(cluster, timezone.now() - timedelta(minutes=1), only=WORKER, hold="paused")
    first = search.get(f"/pods/demo/search/{VICTIM}/")
    assert "was evicted" in text(first.context["why"].sentence)
    (other,) = first.context["others"]
    newer = search.get(f"/pods/demo/search/{VICTIM}/", {"decision": other.event.decision.pk})
    assert "would be evicted" in text(newer.context["why"].sentence)
    assert text(newer.context["why"].because[0]) == "On hold: the cluster is paused."
    assert newer.content.decode().count('<p class="because">On hold: the cluster is paused.') == 1
    assert search.get(f"/pods/demo/search/{VICTIM}/", {"decision": "0"}).status_code == 404


def test_spared_pods_are_not_called_preempted(cluster, search):
    """A decision that ended before a pod was evicted leaves it running."""
    Victim.objects.filter(name=VICTIM).update(state=Victim.State.SPARED, evicted_at=None, gone_at=None)
    shown = search.get(f"/pods/demo/search/{VICTIM}/").context["why"]
    assert (shown.kind, shown.word) == ("ok", "spared")
    assert "would have been evicted" in text(shown.sentence)
    assert text(shown.because[0]) == "The decision was stopped."
    assert shown.prevention == ()


def test_pages_of_the_list_leave_nothing_out(cluster, search):
    """Victims and asks in one order, each once."""
    tess = User.objects.get(username="tess")
    for minutes in range(10):
        rows.decision(cluster, "root.tenant-1.training", minutes=20 + minutes, victims=("root.tenant-1.queue-b",) * 2)
        rows.decision(cluster, "root.tenant-1.queue-b", minutes=20 + minutes, ask_namespace="search")
    seen, before = [], ""
    while True:
        part = events(tess, Search(), before, size=4)
        seen += part.events
        before = part.older
        if not before:
            break
    assert len(seen) == len({event.order for event in seen}) == 33
    assert [event.order for event in seen] == sorted((event.order for event in seen), reverse=True)


def test_somebody_who_sees_everything_finds_any_pod(cluster, client):
    """And the way to the whole decision."""
    client.force_login(rows.user("ada"))
    page = client.get(f"/pods/demo/search/{VICTIM}/").content.decode()
    row = Decision.objects.get(ask_name=WORKER)
    assert f"/clusters/demo/decisions/{row.pk}/" in page
    assert len(names(client.get("/pods/"))) == 7


def test_an_empty_list_says_what_to_expect(client):
    """And a search that finds nothing says how it looks."""
    client.force_login(rows.tenant_user())
    assert b"None of your pods were preempted, and none are pending." in client.get("/pods/").content
    assert b"None of your pods match." in client.get("/pods/", {"q": "x"}).content


def odd(name: str, why: str = "memory: lots is no quantity") -> dict[str, object]:
    """An object that can't be read, as a status keeps it."""
    return {"object": name, "why": why, "since_ms": 0}


def test_a_tenant_finds_its_own_pods_that_can_not_be_read(cluster, search):
    """With the reason and what follows; nobody else's, and no other objects."""
    page = search.get("/pods/").content.decode()
    assert "can’t be read" not in page
    others = [odd("Pod search-but-not/c"), odd("Node n1"), odd("Pod elsewhere/d"), odd("Event search/e")]
    ClusterStatus.objects.update(odd=[odd("Pod search/a<b"), *others])
    page = search.get("/pods/").content.decode()
    assert "Your pods that can’t be read" in page
    assert "<code>a&lt;b</code>" in page
    assert "memory: lots is no quantity" in page
    assert "no pods are preempted for that queue" in page
    assert not [name for name in ("search-but-not", "n1</code>", "elsewhere", "<code>e</code>") if name in page]
    search.force_login(rows.user("ada"))
    assert "Your pods that can’t be read" not in search.get("/pods/").content.decode()
