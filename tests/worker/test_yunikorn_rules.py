"""A tree under dialect yunikorn tells what YuniKorn would do, with its departures and broken laws; it never acts."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Terms, publish, tree_of
from scheduler_admin.worker import passes
from tests.builders import ask, node, pod
from tests.worker.conftest import TREE
from tests.worker.execution_scenes import first, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
THEIRS = Terms(policy="fence", dialect="yunikorn")


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster of which is shown what YuniKorn would do."""
    hierarchy = Hierarchy.objects.create(name="main")
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=THEIRS)
    hierarchy.refresh_from_db()
    return Cluster.objects.create(name="east", hierarchy=hierarchy, mode="advise")


@pytest.fixture
def watch(cluster: Cluster) -> Watch:
    """Test holds 3 of its guarantee of 2 in pods of 3 cores: a pod less leaves it with nothing."""
    return Watch(node("n1", 3), pod("test-0", queue="test", node="n1", cpu=3), ask("prod-0", queue="prod", cpu=3))


def test_the_page_tells_which_departures_changed_it(watch: Watch, client: Client) -> None:
    """Beside the law that it breaks, which our own dialect keeps."""
    row = first(watch)
    assert (row.dialect, row.victims.get().name) == ("yunikorn", "test-0")
    assert {check["law"] for check in row.laws if not check["holds"]} == {"guarantee"}
    assert (row.state, row.ending) == ("recorded", ""), "no law of ours stops YuniKorn"
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    page = client.get(f"/clusters/east/decisions/{row.pk}/?otherwise=1").content.decode()
    assert "YuniKorn’s deviations from its own design; replayed without each one" in page
    assert "YuniKorn checks whether a queue is above its guarantee before its pod is evicted, not after." in page
    assert "keeps 0 of its guarantee of 2 cpu." in page
    assert "Otherwise, no pod would be preempted." in page
    assert "A queue drops below its guarantee." in page
    assert "YuniKorn’s own rules do not guarantee these checks" in page
    assert "test uses 3 cpu with a guarantee of 2, and 0 without it" in page
    assert "What would prevent this eviction" not in page


def test_no_law_of_ours_would_have_prevented_it(cluster: Cluster, client: Client) -> None:
    """Neither on its page nor on that of its victim, also where it broke none."""
    pods = [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)]
    row = first(Watch(node("n1", 4), *pods, ask("prod-0", queue="prod", cpu=2)))
    assert all(check["holds"] for check in row.laws)
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    for page in (f"clusters/east/decisions/{row.pk}/", f"pods/east/ns/{row.victims.get().name}/"):
        answer = client.get(f"/{page}")
        assert answer.status_code == 200
        assert "for test (now" not in answer.content.decode()


@pytest.mark.parametrize("asked", ["", "?outcome=failed-checks"])
def test_the_history_names_the_laws_that_it_breaks(asked: str, watch: Watch, client: Client) -> None:
    """Beside its reason: it is shown, not refused. It is found by that, too."""
    first(watch)
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    page = client.get(f"/clusters/east/history/{asked}").content.decode()
    assert "below guarantee · a queue drops below its guarantee" in page
    assert "dry run" in page


def test_what_breaks_no_law_is_not_found_among_what_does(watch: Watch) -> None:
    """As it is now: with more pods in Test the same decision leaves it its guarantee."""
    row, api = first(watch), APIClient()
    api.force_authenticate(User.objects.create_user("olga", role=User.Role.AUDITOR))
    address = "/api/v1/clusters/east/decisions?failed_safety_checks="
    assert [one["id"] for one in api.get(f"{address}true").json()["results"]] == [row.pk]
    watch.put(node("n2", 2), pod("test-1", queue="test", node="n2", cpu=2))
    assert run(watch) == row
    assert api.get(f"{address}true").json()["results"] == []
    assert [one["id"] for one in api.get(f"{address}false").json()["results"]] == [row.pk]


def test_whom_we_protect_it_does_not_know(cluster: Cluster) -> None:
    """Pods of protected namespaces go, and no law says that they must not."""
    keep = pod("test-0", queue="test", node="n1", cpu=3, namespace="kube-system")
    row = first(Watch(node("n1", 3), keep, ask("prod-0", queue="prod", cpu=3)))
    assert row.victims.get().namespace == "kube-system"
    assert "shielded" not in {check["law"] for check in row.laws}


def test_a_decision_that_no_departure_changed_says_so(cluster: Cluster, client: Client) -> None:
    """Two of the same size: the design does what YuniKorn does."""
    pods = [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)]
    row = first(Watch(node("n1", 4), *pods, ask("prod-0", queue="prod", cpu=2)))
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    page = client.get(f"/clusters/east/decisions/{row.pk}/?otherwise=1").content.decode()
    assert "None of YuniKorn’s deviations from its own design changed this decision by itself." in page


def test_they_are_told_by_rest(watch: Watch) -> None:
    """As sentences, and as the engine has them."""
    row = first(watch)
    api = APIClient()
    api.force_authenticate(User.objects.create_user("olga", role=User.Role.AUDITOR))
    (told,) = api.get(f"/api/v1/decisions/{row.pk}/counterfactuals").json()["yunikorn_deviations"]
    assert told["document"]["quirk"] == "leaf_below"
    assert told["document"]["victims"] == []
    assert told["sentence"].startswith(
        "YuniKorn checks whether a queue is above its guarantee before its pod is evicted, not after."
    )


def test_it_is_never_enforced(cluster: Cluster, watch: Watch) -> None:
    """Neither by the mode, whoever overrides what, nor by a tree that comes later, nor by a pass in between."""
    with pytest.raises(ValidationError, match="describes another scheduler's behavior"):
        set_mode(cluster=cluster, mode="enforce", actor=None, reason="go", override="east")
    Cluster.objects.update(mode="enforce")
    first(watch)
    assert watch.actuator.evicted == []
    hierarchy = Hierarchy.objects.get()
    ours = publish(hierarchy=hierarchy, tree=TREE, author=None, reason="ours", terms=Terms())
    with pytest.raises(ValidationError, match="Cluster east is in Enforce mode"):
        publish(hierarchy=hierarchy, tree=tree_of(ours), author=None, reason="back", terms=THEIRS)


def test_by_rest_the_dialect_is_named_that_a_cluster_can_not_enforce(cluster: Cluster) -> None:
    """At its place in the document."""
    hierarchy = Hierarchy.objects.get()
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="ours", terms=Terms())
    Cluster.objects.update(mode="enforce")
    api = APIClient()
    api.force_authenticate(User.objects.create_user("root", role=User.Role.ADMIN))
    address = "/api/v1/hierarchies/main/tree"
    etag = api.get(address)["ETag"]
    queues = [{"path": "root"}, {"path": "root.prod"}]
    answer = api.put(
        f"{address}?reason=try", {"dialect": "yunikorn", "queues": queues}, format="json", HTTP_IF_MATCH=etag
    )
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["pointer"] == "/dialect"
    assert "Cluster east is in Enforce mode" in error["detail"]


def test_why_an_ask_waits_is_told_by_yunikorns_own_rules(cluster: Cluster, client: Client) -> None:
    """By the design it would do to be below the guarantee; each remedy is decided again by the same dialect."""
    pods = [pod("prod-9", queue="prod", node="n1"), pod("test-0", queue="test", node="n1", cpu=9)]
    passes.run_pass(cluster=cluster, watch=Watch(node("n1", 10), *pods, ask("prod-0", queue="prod", cpu=4)))
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    page = client.get("/pods/east/ns/prod-0/waiting/").content.decode()
    assert "YuniKorn lets a pod preempt only if its whole request is guaranteed." in page
    assert "This check would pass if the pod requested 1 core less." in page
    assert "This check would pass if the guarantee of prod were at least cpu 5." in page
