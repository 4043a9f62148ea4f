"""Pods that no decision is about are found where they are now, by those whose pods they are."""

import msgspec
import pytest
from django.test import Client

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.selectors.pods import Search
from scheduler_admin.nodes import services
from scheduler_admin.nodes.models import NodePods, PodPlace
from scheduler_admin.nodes.search import find_pods
from tests.builders import ask, node, pod
from tests.nodes.test_nodes import cluster, run
from tests.worker.watch import Watch

__all__ = ["cluster"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cluster")]


def three() -> Watch:
    """Pods of two namespaces, one of which waits."""
    return Watch(
        node("n1", 4),
        node("n2", 4),
        pod("web-a1", queue="prod", node="n1", namespace="shop", app="front"),
        pod("web-b2", queue="prod", node="n2", namespace="shop", app="front"),
        pod("etl-c3", queue="prod", node="n2", namespace="data", app="front-etl"),
        ask("web-late", queue="prod", app="front", namespace="shop"),
    )


def admin() -> User:
    """Somebody who sees everything."""
    return User.objects.get_or_create(username="ada", defaults={"role": User.Role.ADMIN})[0]


def tenant(*namespaces: str) -> User:
    """Somebody who sees the pods of some namespaces."""
    user = User.objects.create_user("tess", role=User.Role.TENANT)
    user.tenants.add(Tenant.objects.create(name="tess's", namespaces=list(namespaces), subtrees=[]))
    return user


def found(user: User, text: str = "", **more: str) -> list[str]:
    """The names of the pods that a search finds."""
    return [one.pod.name for one in find_pods(user, Search(text=text, **more)).pods]


def places() -> dict[str, str]:
    """Where each pod is looked for."""
    return dict(PodPlace.objects.values_list("name", "place"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("web-", ["web-a1", "web-b2", "web-late"]),
        ("web-a", ["web-a1"]),
        ("front-", ["etl-c3"]),
        ("front", ["etl-c3", "web-a1", "web-b2", "web-late"]),
        ("data", ["etl-c3"]),
        ("shop/web-b", ["web-b2"]),
        ("shop/etl", []),
        ("b2", []),
        ("web_", []),
        ("", []),
    ],
)
def test_pods_are_found_by_name_application_and_namespace(text: str, names: list[str]) -> None:
    """Names and applications by their beginnings, namespaces whole."""
    run(three())
    assert found(admin(), text) == names


def test_a_namespace_alone_finds_its_pods() -> None:
    """As the filter of the page says it."""
    run(three())
    assert found(admin(), namespace="data") == ["etl-c3"]
    assert found(admin(), "web", namespace="data") == []


def test_tenants_find_only_their_own() -> None:
    """Whatever they look for."""
    run(three())
    user = tenant("data")
    assert [found(user, text) for text in ("web", "front", "shop", "etl")] == [[], ["etl-c3"], [], ["etl-c3"]]


def test_a_pod_is_looked_for_where_it_is_now() -> None:
    """When it is bound, when it is another's name, and not when it is gone."""
    watch = three()
    run(watch)
    [late] = [one for one in watch.state.pods.values() if one.name == "web-late"]
    [gone] = [one for one in watch.state.pods.values() if one.name == "web-a1"]
    assert places()["web-late"].startswith("/")
    watch.state.pods[late.uid] = msgspec.structs.replace(late, node="n1", unschedulable_ms=None)
    del watch.state.pods[gone.uid]
    run(watch)
    assert places() == {"web-late": "n1", "web-b2": "n2", "etl-c3": "n2"}
    assert found(admin(), "web") == ["web-b2", "web-late"]


def test_what_changes_in_a_life_of_a_pod_writes_no_row_to_look_it_up() -> None:
    """Only new and deleted pods, and those that are bound, do."""
    watch = three()
    run(watch)
    before = list(PodPlace.objects.order_by("pk").values_list("pk"))
    watch.state.pods = type(watch.state.pods)(
        (uid, msgspec.structs.replace(one, terminating=True)) for uid, one in watch.state.pods.items()
    )
    run(watch)
    assert list(PodPlace.objects.order_by("pk").values_list("pk")) == before


def test_a_process_compares_all_nodes_over_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first pass on a large cluster takes no longer than another, and what changes meanwhile is stored at once."""
    monkeypatch.setattr(services, "_COMPARED", 2)
    watch = three()
    run(watch)  # makes the cluster's status, in which the next one keeps what it wrote
    run(watch)
    first = len(NodePods.objects.all())
    watch.state.nodes["n9"] = node("n9", 4)
    run(watch)
    assert (first, set(NodePods.objects.nodes().values_list("name", flat=True))) == (2, {"n1", "n2", "n9"})
    assert len(places()) == 4


def test_rows_of_an_earlier_release_are_written_anew() -> None:
    """Their pods cannot be looked up yet."""
    watch = three()
    run(watch)
    PodPlace.objects.all().delete()
    for row in NodePods.objects.all():
        NodePods.objects.filter(pk=row.pk).update(digest=row.digest.removeprefix("2-"))
    run(three())
    assert len(places()) == 4


def test_the_page_shows_them_below(client: Client, cluster: Cluster) -> None:
    """With their states, and links to their applications; without a search it does not."""
    run(three())
    client.force_login(tenant("shop"))
    response = client.get("/pods/", {"q": "web-a"})
    assert [row.pod.name for row in response.context["others"]] == ["web-a1"]
    html = response.content.decode()
    assert "Other matching pods" in html
    assert f"/clusters/{cluster.name}/application/?namespace=shop&amp;application=front" in html
    assert "Other matching pods" not in client.get("/pods/").content.decode()
