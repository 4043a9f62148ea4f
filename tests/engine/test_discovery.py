"""The tree that is proposed for somebody's cluster: every pod has its queue, and nothing is promised that was not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.objects import ClassQuota, KueueSettings, Pod, PriorityClass
from engine.model.queue_tree import WEIGHT_ONE
from engine.model.snapshot import queue_of
from engine.observation.discovery import ClusterScan, facts, propose, yunikorn_namespaces
from engine.tree.lint import errors
from tests.builders import amounts, node, pod
from tests.engine.linted import under

YUNIKORN = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: prod
            resources: {guaranteed: {vcore: 4}}
"""
KUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  cohortName: company
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: lab}
spec: {clusterQueue: research}
"""


def survey(*pods: Pod, **fields: Any) -> ClusterScan:
    return ClusterScan(pods=pods, **fields)


def leaves(*pods: Pod, **fields: Any) -> dict[str, tuple[str, ...]]:
    """Path of each leaf of the proposed tree -> the namespaces it claims."""
    tree = propose(survey(*pods, **fields)).tree
    return {path: tree[path].namespaces for path in tree.leaves}


def test_without_labels_every_namespace_is_a_leaf():
    """Those that run the cluster itself stand under one parent."""
    found = leaves(pod("a", namespace="shop"), pod("b", namespace="kube-system"), pod("c", namespace="kueue-system"))
    assert found == {
        "root.shop": ("shop",),
        "root.system.kube-system": ("kube-system",),
        "root.system.kueue-system": ("kueue-system",),
    }


def test_labels_name_the_queues_and_dots_their_parents():
    """With and without root in front; what has no label falls to its namespace."""
    pods = (pod("a", queue="root.prod.web"), pod("b", queue="prod.batch"), pod("c", namespace="left"))
    assert leaves(*pods) == {"root.prod.batch": (), "root.prod.web": (), "root.left": ("left",)}


def test_a_label_that_names_a_parent_or_no_queue_at_all_leaves_the_pod_to_its_namespace():
    """Pods run in leaves."""
    pods = (pod("a", queue="prod"), pod("b", queue="prod.web"), pod("c", queue="not a name", namespace="odd"))
    assert leaves(*pods) == {"root.prod.web": (), "root.ns": ("ns",), "root.odd": ("odd",)}


def test_a_namespace_called_like_a_queue_joins_it_or_stands_beside_it():
    """No pod is lost to a name."""
    pods = (pod("a", queue="web"), pod("b", namespace="web"), pod("c", queue="prod.x"), pod("d", namespace="prod"))
    assert leaves(*pods) == {"root.web": ("web",), "root.prod.x": (), "root.prod-namespace": ("prod",)}


def test_a_quota_is_a_limit_and_promises_nothing():
    """Of several the smallest holds; a quota makes a leaf even where nothing runs yet."""
    quotas = (
        ClassQuota(namespace="shop", name="a", requests=amounts({"cpu": "8", "memory": "4Gi"})),
        ClassQuota(namespace="shop", name="b", requests=amounts({"cpu": "6"})),
        ClassQuota(namespace="idle", name="c", requests=amounts({"cpu": "1"})),
    )
    tree = propose(survey(pod("a", namespace="shop"), pod("b", namespace="free"), quotas=quotas)).tree
    assert tree["root.shop"].max == amounts({"cpu": "6", "memory": "4Gi"})
    assert tree["root.free"].max == {}
    assert "root.idle" in tree
    assert not any(queue.guaranteed for queue in tree.queues.values())


def test_a_namespace_without_pods_has_its_leaf_too():
    """Its first pod would run in no queue; the cluster's own namespaces are not shown for nothing."""
    pods = (pod("a", namespace="shop"), pod("b", queue="web", namespace="labelled"))
    names = ("shop", "labelled", "vision", "kube-public")
    assert leaves(*pods, namespaces=names) == {"root.web": (), "root.shop": ("shop",), "root.vision": ("vision",)}


def test_yunikorns_own_tree_is_taken_as_it_is_and_grown_for_the_pods_it_misses():
    """Its guarantees hold; quotas, which are limits, add none of their own."""
    quotas = (ClassQuota(namespace="left", name="q", requests=amounts({"cpu": "1"})),)
    pods = (pod("a", queue="root.prod"), pod("b", namespace="left"))
    proposed = propose(survey(*pods, yunikorn=YUNIKORN, quotas=quotas))
    assert (proposed.origin, proposed.text) == ("yunikorn", YUNIKORN)
    assert proposed.tree["root.prod"].guaranteed == amounts("4")
    assert proposed.tree["root.left"].guaranteed == {}


@pytest.mark.parametrize("scheduler", ["yunikorn", "kueue", "volcano", "consumers"])
def test_a_tree_that_can_not_be_read_is_reported_as_its_schedulers_and_done_without(scheduler: str):
    """The pods alone make the tree then."""
    proposed = propose(survey(pod("a"), **{scheduler: "partitions: 3"}))
    assert (proposed.origin, proposed.scheduler, bool(proposed.refused)) == ("namespaces", scheduler, True)
    assert "root.ns" in proposed.tree


def test_an_empty_cluster_has_a_tree_too():
    """Of the root alone."""
    assert propose(survey()).tree.leaves == ("root",)


_LABELS = st.sampled_from(["", "a", "a.b", "root.a.b.c", "b", "root", "root.root", "a..b", "x y", "system", "a.b."])
_SPACES = st.sampled_from(["a", "b", "root", "system", "kube-system", "a-namespace"])


@given(st.lists(st.tuples(_LABELS, _SPACES), max_size=12))
def test_every_pod_has_a_queue_and_the_tree_can_be_published(many: list[tuple[str, str]]):
    """Whatever labels and namespaces are called, in whatever order they come; and no guarantee out of nothing."""
    pods = [pod(f"p{n}", queue=label, namespace=space) for n, (label, space) in enumerate(many)]
    tree = propose(survey(*pods)).tree
    assert all(queue_of(one, tree) is not None for one in pods)
    assert errors(tree, under()) == ()
    assert not any(tree[path].guaranteed or tree[path].max for path in tree.queues)
    assert propose(survey(*reversed(pods))).tree.queues.keys() == tree.queues.keys()


def test_what_was_found_is_counted():
    """Capacity, pods, classes from the highest, leaves with their pods."""
    pods = (pod("a", node="n1"), pod("b"), pod("done", finished=True))
    classes = (PriorityClass(name="low", value=1), PriorityClass(name="high", value=9))
    read = survey(*pods, nodes=(node("n1", 4), node("n2", 4)), classes=classes)
    found = facts(read, propose(read).tree)
    assert (found.nodes, found.capacity["cpu"], found.running, found.pending) == (2, 8000, 1, 1)
    assert [one.name for one in found.classes] == ["high", "low"]
    assert [(leaf.path, leaf.pods) for leaf in found.leaves] == [("root.ns", 2)]
    assert found.unplaced == 0


@pytest.mark.parametrize(
    ("pods", "groups", "want"),
    [
        ([pod("a")], (), {"kube-scheduler": (1, 0)}),
        ([pod("kube-scheduler-cp1", namespace="kube-system")], (), {"kube-scheduler": (1, 1)}),
        ([pod("a", scheduler="yunikorn")], (), {"YuniKorn": (1, 0)}),
        ([pod("yunikorn-scheduler-7f-x")], (), {"YuniKorn": (0, 1), "kube-scheduler": (1, 0)}),
        ([], ("kueue.x-k8s.io", "batch"), {"Kueue": (0, 0)}),
        (
            [pod("x", labels={"app": "volcano-scheduler"}, scheduler="volcano")],
            ("scheduling.volcano.sh",),
            {"Volcano": (1, 1)},
        ),
        ([pod("a", scheduler="mine")], (), {"mine": (1, 0)}),
    ],
)  # fmt: skip
def test_the_schedulers_that_run_there_are_told_with_how_that_is_known(
    pods: list[Pod], groups: tuple[str, ...], want: dict[str, tuple[int, int]]
):
    """By what pods name, by their own pods, by the API groups that are served."""
    read = survey(*pods, groups=groups)
    found = facts(read, propose(read).tree).schedulers
    assert {one.name: (one.named_by, len(one.own_pods)) for one in found} == want


def test_where_yunikorn_keeps_its_tree_is_where_it_runs():
    assert yunikorn_namespaces([pod("yunikorn-scheduler-1", namespace="yk"), pod("a", namespace="b")]) == ("yk",)


def test_kueues_tree_is_taken_over_as_it_is():
    """A queue more would be an object more in the cluster: pods that Kueue does not admit are in none."""
    found = propose(survey(pod("a", namespace="lab"), pod("b", namespace="shop"), kueue=KUEUE))
    assert (found.origin, found.text) == ("kueue", KUEUE)
    assert {path: found.tree[path].namespaces for path in found.tree.leaves} == {"root.company.research": ("lab",)}
    assert found.tree["root.company.research"].guaranteed == amounts({"cpu": 4})


@pytest.mark.parametrize(
    ("strategies", "parameters"),
    [
        ((), {"strategies": "both"}),
        (("LessThanInitialShare",), {"strategies": "initial"}),
        (("LessThanOrEqualToFinalShare", "LessThanInitialShare"), {"strategies": "both"}),
        (("One that is not known here",), {}),
    ],
)
def test_kueues_tree_decides_as_that_kueue_is_set(strategies: tuple[str, ...], parameters: dict[str, str]) -> None:
    """By fair sharing where its configuration says so; by classic preemption, as its format does, where it does not."""
    fair = KueueSettings(name="kueue-manager-config", fair=True, strategies=strategies)
    assert propose(survey(kueue=KUEUE, sharing=fair)).terms == {"policy": "fair-share", "parameters": parameters}
    for plain in (None, KueueSettings(name="kueue-manager-config")):
        assert propose(survey(kueue=KUEUE, sharing=plain)).terms == {}


def test_volcanos_tree_is_taken_over_as_it_is():
    """Its own root too; pods of other schedulers are in none."""
    queues = "".join(
        f"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n"
        for name, spec in (("root", "{}"), ("default", "{weight: 1}"), ("lab", "{weight: 3, parent: root}"))
    )
    found = propose(survey(pod("a", namespace="shop"), volcano=queues))
    assert (found.origin, found.text, found.refused) == ("volcano", queues, ())
    assert found.tree.leaves == ("root.default", "root.lab")
    assert found.tree["root.lab"].weight == 3 * WEIGHT_ONE


def test_yunikorns_tree_goes_before_kueues():
    """Kueue may run beside any scheduler; where both are, YuniKorn says which pods run."""
    assert propose(survey(yunikorn=YUNIKORN, kueue=KUEUE)).origin == "yunikorn"


def test_queues_of_kueue_that_form_no_tree_leave_it_to_namespaces():
    """And it is told why."""
    found = propose(survey(pod("a", namespace="lab"), kueue=KUEUE.replace("nominalQuota: 4", "nominalQuota: much")))
    assert (found.origin, found.tree.leaves) == ("namespaces", ("root.lab",))
    assert found.refused
