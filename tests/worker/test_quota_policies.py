"""A tree under a policy that gives quota: decisions name no node, pages tell quota and shares, and nobody acts."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Terms, publish, tree_of
from tests.builders import ask, node, pod, queue, tree
from tests.worker.execution_scenes import first
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"prod": queue("4"), "test": queue("2")})


def governed(policy: str) -> Cluster:
    """A cluster that is advised by it."""
    hierarchy = Hierarchy.objects.create(name="main")
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=Terms(policy, "kueue"))
    hierarchy.refresh_from_db()
    return Cluster.objects.create(name="east", hierarchy=hierarchy, mode="advise")


@pytest.fixture(params=["cohort", "fair-share"])
def cluster(request: pytest.FixtureRequest, db: None) -> Cluster:
    """By either of both."""
    return governed(request.param)


@pytest.fixture
def watch(cluster: Cluster) -> Watch:
    """Test has 4 of its own 2, prod asks for all that it owns."""
    pods = [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)]
    return Watch(node("n1", 4), *pods, ask("prod-0", queue="prod", cpu=4))


def page(client: Client, row: Decision) -> str:
    """As an operator sees it."""
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    return client.get(f"/clusters/east/decisions/{row.pk}/?otherwise=1").content.decode()


def test_the_page_tells_quota_and_names_no_node(watch: Watch, client: Client) -> None:
    """Who goes, why, and that every law is kept."""
    row = first(watch)
    assert (row.node, row.victims.count()) == ("", 1)
    assert all(check["holds"] for check in row.laws)
    html = page(client, row)
    assert "prod had only 2 left" in html
    assert "test uses more than its own quota, and others claim it back" in html
    assert "victim on" not in html


def test_shares_are_told_under_fair_sharing(client: Client) -> None:
    """Before and afterwards: test borrows 2 of the 6 that there are."""
    governed("fair-share")
    pods = [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)]
    html = page(client, first(Watch(node("n1", 4), *pods, ask("prod-0", queue="prod", cpu=4))))
    assert "test has a share of 333.3333333333333: it borrows 2 cores out of 6 cores of lendable quota" in html


def test_it_is_never_enforced(cluster: Cluster, watch: Watch) -> None:
    """Neither by the mode, whoever overrides what, nor by a tree that comes later, nor by a pass in between."""
    with pytest.raises(ValidationError, match="evicted pods would come back at once"):
        set_mode(cluster=cluster, mode="enforce", actor=None, reason="go", override="east")
    terms = Terms(cluster.hierarchy.current.policy, "kueue")
    Cluster.objects.update(mode="enforce")
    first(watch)
    assert watch.actuator.evicted == []
    hierarchy = Hierarchy.objects.get()
    ours = publish(hierarchy=hierarchy, tree=TREE, author=None, reason="ours", terms=Terms())
    with pytest.raises(ValidationError, match="can't be enforced in cluster east"):
        publish(hierarchy=hierarchy, tree=tree_of(ours), author=None, reason="back", terms=terms)
