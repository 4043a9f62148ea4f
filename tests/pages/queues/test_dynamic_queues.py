"""Queues that are there because of their pods: from a pass onto every page and into REST, and gone with their pods."""

import pytest
from django.test import Client

from engine.model.placement_rules import Filter, Rule, RuleName
from engine.model.queue_tree import QueueTree, Settings
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.selectors.queues import visible
from scheduler_admin.queues.services.hierarchies import publish
from tests.api.conftest import client_of as api_client
from tests.builders import amounts, ask, node, pod, queue, tree
from tests.pages.conftest import client_of
from tests.pages.queues.drafts import texts
from tests.pages.rows import tenant_user, user
from tests.samples import sampled
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

ANN, BOB = "root.users.ann", "root.users.bob"
RULES = [
    Rule(
        name=RuleName.USER,
        create=True,
        filter=Filter(deny=True, groups=("ops",)),
        parent=Rule(name=RuleName.FIXED, value="root.users"),
    ),
    Rule(name=RuleName.TAG, value="namespace"),
]


@pytest.fixture
def watch() -> Watch:
    """Ann holds the whole node, of more than she is promised; Bob asks for some of what he is."""
    held = [pod(f"a{number}", user="ann", cpu=1, node="n1") for number in range(4)]
    return Watch(node("n1", 4), held, ask("b", user="bob", cpu=1))


@pytest.fixture
def cluster(db: None, watch: Watch) -> Cluster:
    """A cluster of a tree with a template and rules, after a pass."""
    template = Settings(guaranteed=amounts("2"), delay_ms=1)
    shape = tree({"users": queue(parent_declared=True, template=template), "other": queue()})
    made = add_cluster(mode="observe")
    assert made.hierarchy is not None
    ruled = QueueTree(shape.queues.values(), RULES)
    publish(hierarchy=made.hierarchy, tree=ruled, author=None, reason="users have queues")
    run(made, watch)
    return Cluster.objects.get(pk=made.pk)


def page(client: Client, cluster: Cluster, address: str = "queues/") -> str:
    """A page of the cluster."""
    answer = client.get(f"/clusters/{cluster.name}/{address}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_guarantees_of_the_template_are_preempted_for(cluster: Cluster) -> None:
    """Bob's pod is below what his leaf is promised, Ann's leaf above it: one of hers goes."""
    row = Decision.objects.get(outcome="preempt")
    assert (row.ask_queue, [one.queue for one in row.victims.all()]) == (BOB, [ANN])
    assert all(sampled(queue) for queue in (ANN, BOB, "root.users"))


def test_the_pages_show_them_as_dynamic(cluster: Cluster, ada: Client) -> None:
    """With what they use and are promised, below the queue where they are."""
    html = page(ada, cluster)
    assert html.index(f'id="q-{ANN}"') < html.index(f'id="q-{BOB}"')
    assert html.count('class="dynamic"') == 2
    own = page(ada, cluster, f"queues/{ANN}/")
    assert 'class="dynamic"' in own
    assert ANN in page(ada, cluster, f"fences/?queue={ANN}")
    assert f"<option>{ANN}</option>" in page(ada, cluster, "history/")


def test_rules_and_templates_are_told_in_words(cluster: Cluster, ada: Client) -> None:
    """On the page of the revision, of the root, and of the queue whose template it is."""
    for address in ("revisions/2/", "queues/root/"):
        html = page(ada, cluster, address)
        assert "the user name, parent: root.users" in html
        assert "everyone except groups ops" in html
    assert "placement rule 1 added: the user" in texts(page(ada, cluster, "revisions/2/"))
    assert "guaranteed cpu 2, delay 1ms" in page(ada, cluster, "queues/root.users/")


def test_a_draft_has_the_rules_and_counts_whose_queues_would_go(cluster: Cluster) -> None:
    """Four pods of Ann run below the queue that is deleted, and Bob's waits there."""
    admin = user("rosa", User.Role.ADMIN)
    assert cluster.hierarchy is not None
    draft = start(hierarchy=cluster.hierarchy, name="less", author=admin)
    row = draft.queues.get(name="users")
    html = page(client_of(admin), cluster, f"drafts/{draft.pk}/?queue={row.pk}&act=delete")
    assert '<option value="user" selected>' in html
    assert 'value="root.users"' in html
    said = texts(html)
    assert "guaranteed cpu 2, delay 1ms" in said
    assert "4 pods run there. After publication, they will belong to no queue. 1 pod is pending there." in said


def test_a_tenant_sees_its_own_alone_and_no_rules(cluster: Cluster) -> None:
    """As of queues that are written."""
    html = page(client_of(tenant_user("tina", "root.users")), cluster)
    assert f'id="q-{ANN}"' in html
    assert "root.other" not in html
    sam = client_of(tenant_user("sam", "root.other"))
    assert sam.get(f"/clusters/{cluster.name}/queues/{ANN}/").status_code == 404


def test_rest_tells_them_apart(cluster: Cluster) -> None:
    """By a member of their own."""
    client = api_client(user("rosa", User.Role.ADMIN))
    found = {one["path"]: one for one in client.get(f"/api/v1/clusters/{cluster.name}/queues").json()["results"]}
    assert {path for path, one in found.items() if one["dynamic"]} == {ANN, BOB}
    assert found[ANN]["resources"]["cpu"]["guaranteed"] == "2"
    assert client.get(f"/api/v1/clusters/{cluster.name}/queues/{ANN}").json()["queue"] == found[ANN]


def test_they_are_gone_with_their_pods(cluster: Cluster, watch: Watch, ada: Client) -> None:
    """And their pages with them."""
    watch.gone("b")
    run(cluster, watch)
    html = page(ada, cluster)
    assert f'id="q-{ANN}"' in html
    assert f'id="q-{BOB}"' not in html
    assert ada.get(f"/clusters/{cluster.name}/queues/{BOB}/").status_code == 404


def test_under_a_new_tree_they_wait_for_the_next_pass(cluster: Cluster, ada: Client) -> None:
    """What was there under the one before says nothing of where pods belong now."""
    assert cluster.hierarchy is not None
    other = tree({"other": queue()})
    publish(hierarchy=cluster.hierarchy, tree=other, author=None, reason="no rules", allow_orphans=True)
    assert "root.users" not in page(ada, cluster)


def test_queues_are_worked_out_once_until_others_are_there(cluster: Cluster) -> None:
    """For all who see everything; what a pass finds otherwise shows at once."""
    rosa, revision = user("rosa"), cluster.hierarchy and cluster.hierarchy.current
    both = visible(rosa, revision, [ANN, BOB])
    assert visible(rosa, revision, [BOB, ANN]) is both
    assert {ANN, BOB} < both.paths
    assert visible(rosa, revision, [ANN]).paths == both.paths - {BOB}
    assert visible(rosa, revision).paths == both.paths - {ANN, BOB}
