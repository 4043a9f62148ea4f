"""Why a stored ask waits, tier by tier: for its own tenant, on a page and by REST, without a word of anybody else's."""

import re
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
import time_machine
from django.test import Client
from rest_framework.test import APIClient

from engine.analysis import pending_reasons as engine
from engine.analysis.pending_reasons import Ahead, Change, Need, PendingReasons, Remedy, Tier, TierName
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import JournalEntry
from scheduler_admin.pending.reasons import seen_by, why_waiting
from scheduler_admin.queues.services.hierarchies import Terms
from scheduler_admin.worker import passes
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SHAPE = tree(
    {
        "ours": queue("4"),
        "ours.train": queue("2", max="3", delay_ms=1),
        "ours.batch": queue(delay_ms=1),
        "canary": queue("1", max="77", delay_ms=1),
    }
)


@pytest.fixture(autouse=True)
def _frozen():
    """Time stands still, but for what a test moves."""
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster that is only shown what would be done."""
    return add_cluster(SHAPE, mode="advise")


def watched(**asked: object) -> Watch:
    """A full node: train is at its guarantee, others of our tenant and a stranger's fill the rest."""
    own = [pod(f"own-{number}", queue="ours.train", node="n1", namespace="ours") for number in range(2)]
    foreign = [pod(f"canary-{number}", queue="canary", node="n1", namespace="canary") for number in range(4)]
    wants = ask("want", queue="ours.train", namespace="ours", **{"cpu": 1, "priority": 0, **asked})
    rival = ask("canary-ask", queue="canary", namespace="canary", priority=9, unschedulable_ms=1)
    return Watch(node("n1", 6), own, foreign, wants, rival)


def run(watch: Watch) -> Decision:
    """One pass; the decision about our ask."""
    passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)
    return Decision.objects.filter(ask_name="want").latest("pk")


def somebody(name: str, role: str = User.Role.TENANT) -> User:
    """A person; a tenant sees what is ours."""
    person = User.objects.create_user(name, role=role)
    if role == User.Role.TENANT:
        person.tenants.add(Tenant.objects.create(name=name, subtrees=["root.ours"], namespaces=["ours"]))
    return person


def api_of(person: User) -> APIClient:
    """The API as a person uses it."""
    api = APIClient()
    api.force_authenticate(person)
    return api


def fragment(client: Client, query: str = "") -> str:
    """The part of the ask's page, spaces joined."""
    response = client.get(f"/pods/east/ours/want/waiting/{query}")
    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-store"
    return re.sub(r"\s+", " ", response.content.decode())


@pytest.mark.usefixtures("cluster")
def test_its_page_tells_what_stops_it_and_what_would_help(client: Client) -> None:
    """In sentences, with the numbers below."""
    run(watched())
    client.force_login(somebody("tess"))
    page = fragment(client)
    assert "1 check fails." in page
    assert "1 other pod is ahead of it (0 in its own queue)." in page
    assert "train already uses its whole guarantee of cpu" in page
    assert "It would get room if the guarantee of train were above cpu 2." in page


@pytest.mark.usefixtures("cluster")
def test_the_page_of_the_pod_loads_it_after_the_rest(client: Client) -> None:
    """Or shows it when asked, where no script runs; its own refresh leaves that part alone."""
    run(watched())
    client.force_login(somebody("tess"))
    page = client.get("/pods/east/ours/want/").content.decode()
    assert 'hx-get="/pods/east/ours/want/waiting/?decision=' in page
    assert "train already uses its whole guarantee" not in page.partition("h-waiting")[2]
    assert "What would make this pod eligible to preempt" not in page  # that is told with the tiers
    assert "1 check fails" in client.get("/pods/east/ours/want/?waiting=1").content.decode()
    assert "h-waiting" not in client.get("/pods/east/ours/want/", headers={"HX-Request": "true"}).content.decode()


@pytest.mark.usefixtures("cluster")
def test_the_page_of_the_decision_has_the_same_part(client: Client) -> None:
    """For those who see everything."""
    row = run(watched())
    client.force_login(somebody("olga", User.Role.AUDITOR))
    address = f"/clusters/east/decisions/{row.pk}/"
    assert f'hx-get="/pods/east/ours/want/waiting/?decision={row.pk}"' in client.get(address).content.decode()
    assert "1 check fails" in client.get(f"{address}?waiting=1").content.decode()


def test_what_others_would_give_up_for_a_guarantee_is_not_told_to_a_tenant() -> None:
    """YuniKorn counts it; by what is missing beside it, it could be told."""
    made = Need(where="root.ours.train", resource="cpu", required=2000, available=500, evictable=7000)
    own = Need(where="root.ours.train", resource="memory", required=2, available=5)
    found = PendingReasons(tiers=(Tier.of(TierName.GUARANTEE, [made, own]),), ahead=Ahead(cluster=0, queue=0))
    scope = Scope(subtrees=("root.ours",), namespaces=("ours",))
    assert seen_by(scope, found, "root.ours.train").tiers[0].needs == (own,)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("asked", [{}, {"cpu": 9}, {"priority": -5}, {"cpu": 2}])
def test_nothing_of_other_tenants_is_told(client: Client, asked: dict[str, object]) -> None:
    """Neither names, nor amounts and counts of theirs: not what could be taken, nor from whom."""
    row = run(watched(**asked))
    tess = somebody("tess")
    client.force_login(tess)
    told = api_of(tess).get(f"/api/v1/decisions/{row.pk}/pending-reasons")
    assert told.status_code == 200
    for body in (fragment(client), told.content.decode()):
        for word in ("canary", "from evictions", "77"):
            assert word not in body
    by_name = {one["name"]: one for one in told.json()["checks"]}
    assert by_name["fence"]["reachable_queues"] == []
    assert {need["evictable"] for tier in by_name.values() for need in tier["requirements"]} <= {"0"}


@pytest.mark.parametrize("asked", [{"cpu": 9}, {"cpu": 2}, {"never_preempts": True}])
@pytest.mark.parametrize("policy", ["cohort", "fair-share"])
def test_of_quota_a_tenant_learns_what_its_own_queue_could_have(
    client: Client, policy: str, asked: dict[str, object]
) -> None:
    """Not what evictions would free, nor whose."""
    add_cluster(SHAPE, mode="advise", terms=Terms(policy, "kueue", {}))
    row = run(watched(**asked))
    tess = somebody("tess")
    client.force_login(tess)
    told = api_of(tess).get(f"/api/v1/decisions/{row.pk}/pending-reasons")
    for body in (fragment(client), told.content.decode()):
        for word in ("canary", "from evictions", "77"):
            assert word not in body
    needs = [(tier["name"], need) for tier in told.json()["checks"] for need in tier["requirements"]]
    assert {need["evictable"] for _name, need in needs} == {"0"}
    assert {need["location"] for name, need in needs if name in {"potential-quota", "available-quota"}} == {
        "root.ours.train"
    }


@pytest.mark.parametrize("asked", [{}, {"cpu": 2}, {"cpu": 9}, {"never_preempts": True}])
def test_of_deserved_shares_a_tenant_learns_what_its_own_queue_deserves(
    client: Client, asked: dict[str, object]
) -> None:
    """And until when others have time to give back, not who they are, nor how much it is."""
    add_cluster(SHAPE, mode="advise", terms=Terms("deserved", "arbitrator", {}))
    row = run(watched(**asked))
    tess = somebody("tess")
    client.force_login(tess)
    told = api_of(tess).get(f"/api/v1/decisions/{row.pk}/pending-reasons")
    page = fragment(client)
    for body in (page, told.content.decode()):
        for word in ("canary", "from evictions", "77"):
            assert word not in body
    by_name = {one["name"]: one for one in told.json()["checks"]}
    assert {need["location"] for need in by_name["deserved"]["requirements"]} == {"root.ours.train"}
    if not asked:
        assert by_name["grace-period"]["reclaim_notices"] == [
            {"queue": "", "excess": {}, "due_at": "2026-11-20T12:00:00.001000Z"}
        ]
        assert "Other queues were asked to give back" in page


def test_those_who_see_everything_are_told_who_still_has_time_to_give_back() -> None:
    """With how much it is."""
    add_cluster(SHAPE, mode="advise", terms=Terms("deserved", "arbitrator", {}))
    row = run(watched())
    body = api_of(somebody("olga", User.Role.AUDITOR)).get(f"/api/v1/decisions/{row.pk}/pending-reasons").json()
    by_name = {one["name"]: one for one in body["checks"]}
    assert [tier["name"] for tier in body["checks"] if not tier["passed"]] == ["grace-period"]
    (notice,) = by_name["grace-period"]["reclaim_notices"]
    assert (notice["queue"], notice["excess"]["cpu"]) == ("root.canary", "2")
    assert by_name["overused"]["reachable_queues"][0]["queue"] == "root.canary"


@pytest.mark.parametrize("subtree", ["root", "root.ours.train"])
def test_that_changes_do_together_is_told_with_all_of_them_alone(subtree: str) -> None:
    """Where one is of a queue that is not the tenant's, there is none for its tier that could be meant."""
    less = Remedy(change=Change.REQUEST, smaller={"cpu": 1})
    more = Remedy(change=Change.GUARANTEE, queues={"root.ours": {"cpu": 5}})
    tiers = (
        Tier(name=TierName.QUOTA, passes=False, remedies=(less,)),
        Tier(name=TierName.GUARANTEE, passes=False, remedies=(more,)),
    )
    found = PendingReasons(tiers=tiers, ahead=Ahead(cluster=0, queue=0), together=True)
    seen = seen_by(Scope(subtrees=frozenset({subtree})), found, "root.ours.train")
    assert seen.together is (subtree == "root")
    assert all(tier.remedies for tier in seen.tiers) is seen.together


@pytest.mark.usefixtures("cluster")
def test_those_who_see_everything_are_told_from_whom_room_could_come() -> None:
    """Queues with what they can spare, and how many pods may go."""
    row = run(watched())
    api = api_of(somebody("olga", User.Role.AUDITOR))
    body = api.get(f"/api/v1/decisions/{row.pk}/pending-reasons").json()
    by_name = {one["name"]: one for one in body["checks"]}
    assert by_name["fence"]["reachable_queues"] == [
        {"queue": "root.canary", "evictable_pods": 4, "surplus": {"cpu": "3"}}
    ]
    assert by_name["node-fit"]["requirements"][1] == {
        "location": "n1",
        "resource": "cpu",
        "required": "1",
        "available": "0",
        "evictable": "1",
        "missing": "0",
    }
    assert by_name["guarantee"]["remedies"][0]["sufficient"] is True
    assert body["ahead"]["in_cluster"] == 1


@pytest.mark.usefixtures("cluster")
def test_it_is_told_to_nobody_else() -> None:
    """A stranger's ask is not there."""
    row = run(watched())
    stranger = User.objects.create_user("tim", role=User.Role.TENANT)
    stranger.tenants.add(Tenant.objects.create(name="tim", subtrees=["root.canary"], namespaces=["canary"]))
    assert api_of(stranger).get(f"/api/v1/decisions/{row.pk}/pending-reasons").status_code == 404


@pytest.mark.usefixtures("cluster")
def test_while_it_waits_it_is_told_as_of_now() -> None:
    """Afterwards as it was when it was decided."""
    watch = watched()
    row = run(watch)
    assert why_waiting(Decision.objects.get(pk=row.pk)).waiting.ahead.cluster == 1
    del watch.state.pods["uid-canary-ask"]
    with time_machine.travel(NOW + timedelta(seconds=2), tick=False):
        same = run(watch)
        assert same.pk == row.pk
        now = why_waiting(same)
    assert now.waiting.ahead.cluster == 0
    assert now.at == NOW + timedelta(seconds=2)
    del watch.state.pods["uid-want"]
    with time_machine.travel(NOW + timedelta(seconds=4), tick=False):
        run(watch)
        then = why_waiting(Decision.objects.get(pk=row.pk))
    assert then.at == NOW
    assert then.waiting.ahead.cluster == 1


@pytest.mark.usefixtures("cluster")
def test_who_looks_next_is_told_what_was_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the cluster, its tree or the ask changes: then it is worked out anew."""
    tried = Mock(side_effect=engine.pending_reasons_of)
    monkeypatch.setattr(engine, "pending_reasons_of", tried)
    watch = watched()
    row = _loaded(run(watch))
    assert why_waiting(row) == why_waiting(_loaded(row))
    assert tried.call_count == 1
    watch.put(ask("first", queue="canary", namespace="canary", priority=9, unschedulable_ms=1))
    assert why_waiting(_loaded(run(watch))).waiting.ahead.cluster == 2
    assert tried.call_count == 2


def _loaded(row: Decision) -> Decision:
    """As views read it."""
    rows = Decision.objects.select_related("entry", "revision", "cluster__status", "cluster__hierarchy")
    return rows.get(pk=row.pk)


@pytest.mark.usefixtures("cluster")
def test_what_is_no_longer_stored_is_not_made_up(client: Client) -> None:
    """The page says so, REST answers 409."""
    row = run(watched())
    client.force_login(somebody("tess"))
    JournalEntry.objects.update(blob=b"")
    assert "can no longer be read, so this can’t be computed" in fragment(client)
    JournalEntry.objects.all().delete()
    gone = api_of(User.objects.get()).get(f"/api/v1/decisions/{row.pk}/pending-reasons")
    assert gone.status_code == 409
    assert "It cannot be computed why this pod is pending" in gone.json()["detail"]
    assert client.get("/pods/east/ours/want/waiting/").status_code == 404


@pytest.mark.usefixtures("cluster")
def test_a_victims_page_has_nothing_to_pass(client: Client) -> None:
    """It did not ask for anything."""
    watch = watched()
    watch.state.pods["uid-need"] = ask("need", queue="ours.batch", namespace="ours")
    client.force_login(somebody("olga", User.Role.AUDITOR))
    run(watch)
    Decision.objects.filter(ask_name="want").update(outcome="preempt")
    assert client.get("/pods/east/ours/want/waiting/").status_code == 404
    assert "h-waiting" not in client.get("/pods/east/ours/want/").content.decode()
