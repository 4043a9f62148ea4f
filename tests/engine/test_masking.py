"""A cluster without its names decides what it decided with them, and tells nobody what they were."""

import gzip
from pathlib import Path

import msgspec
import pytest
from hypothesis import given

from engine.formats.kubernetes.decode import cluster_state
from engine.formats.kubernetes.writing.manifests import manifests
from engine.formats.tree_json.canonical import encode_tree
from engine.model.decision import Decision
from engine.model.objects import ANY_ADDRESS, HostPort, Node, NodeSelectorTerm, Pod, Requirement, SchedulingGroup
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot import ClusterState, Safeguards
from engine.planning import journal
from engine.planning.forecast import forecast
from engine.planning.journal import PassInputs
from engine.planning.masking import MaskedCluster, mask_names
from engine.planning.scheduling_pass import plan
from engine.policies import policy
from tests.builders import NOW, ask, node, pod, queue, tree
from tests.engine.strategies import clusters, growing_trees, queue_trees
from tests.engine.test_journal import state_of
from tests.fidelity.recorded import some
from tests.properties import examples

DATA = Path(__file__).parents[1] / "data"
MOMENT = PassInputs(now_ms=NOW)
LATER = PassInputs(now_ms=NOW + 3_600_000)
FENCE, PRIORITY = policy("fence", "design"), policy("priority", "kube-scheduler")


def in_order(state: ClusterState) -> dict[str, int]:
    """A pod's uid -> its place among all in the order of their names."""
    found = sorted(state.pods.values(), key=lambda one: (one.namespace, one.name, one.uid))
    return {one.uid: place for place, one in enumerate(found)}


def shape(decision: Decision, state: ClusterState) -> tuple[object, ...]:
    """What was decided, with pods and nodes by their places."""
    pods, nodes = in_order(state), sorted(state.nodes)
    victims = [pods[victim.pod.uid] for victim in decision.victims]
    at = None if decision.node is None else nodes.index(decision.node)
    return pods[decision.ask.uid], decision.outcome, decision.reason, at, victims


def decided(state: ClusterState, moment: PassInputs, given: QueueTree) -> list[tuple[object, ...]]:
    """What a pass would decide by both policies."""
    snapshot = moment.snapshot(state, given)
    found = [one.decision for by in (FENCE, PRIORITY) for one in plan(snapshot, snapshot.tree, by)]
    return [shape(one, state) for one in found]


def told(found: MaskedCluster) -> str:
    """All that is handed out."""
    return msgspec.json.encode([list(manifests(found.state)), encode_tree(found.tree).decode(), found.moment]).decode()


@given(growing_trees(), clusters())
def test_without_names_a_pass_decides_the_same(given_tree: QueueTree, objects: list[Node | Pod]) -> None:
    state = state_of(*objects)
    without = mask_names(state, LATER, given_tree)
    assert decided(*without) == decided(state, LATER, given_tree)


@given(queue_trees(), clusters())
@examples(30)
def test_and_goes_the_same_way_from_there(given_tree: QueueTree, objects: list[Node | Pod]) -> None:
    state = state_of(*objects)
    without = mask_names(state, MOMENT, given_tree)
    one = forecast(state, MOMENT, given_tree, FENCE)
    other = forecast(without.state, without.moment, without.tree, FENCE)
    assert (one.settles, one.passes, one.total) == (other.settles, other.passes, other.total)
    assert [len(each.evictions) for each in one.rounds] == [len(each.evictions) for each in other.rounds]


@pytest.mark.parametrize("file", sorted(DATA.glob("kube-scheduler/*.gz")), ids=lambda path: path.name.partition(".")[0])
def test_recorded_clusters_decide_the_same(file: Path) -> None:
    bare = ROOT_ONLY
    with gzip.open(file) as lines:
        for line in some(lines):
            state, *_ = cluster_state(msgspec.json.decode(line)["objects"])
            without = mask_names(state, MOMENT, bare)
            assert decided(*without) == decided(state, MOMENT, bare)


@pytest.mark.parametrize("file", sorted(DATA.glob("*/*.gz")), ids=lambda path: path.name.partition(".")[0])
def test_what_is_handed_out_reads_back_as_it_is(file: Path) -> None:
    bare = ROOT_ONLY
    with gzip.open(file) as lines:
        for line in some(lines):
            without = mask_names(cluster_state(msgspec.json.decode(line)["objects"])[0], MOMENT, bare)
            assert journal.same_state(cluster_state(manifests(without.state))[0], without.state)


def test_what_is_paused_stays_paused() -> None:
    """Under its other name; who goes in its place is the same."""
    given = tree({"prod": queue("4"), "test.a": queue(), "test.b": queue()})
    state = state_of(
        *(node(f"n{number}", 1) for number in (1, 2)),
        pod("young", queue="test.a", node="n1", created_ms=2),
        pod("old", queue="test.b", node="n2", created_ms=1),
        ask("want", queue="prod"),
    )
    moment = PassInputs(now_ms=NOW, safeguards=Safeguards(paused=("root.test.a",)))
    without = mask_names(state, moment, given)
    assert decided(*without) == decided(state, moment, given)
    assert decided(state, moment, given) != decided(state, PassInputs(now_ms=NOW), given)


def test_no_name_is_told() -> None:
    state = state_of(
        node("canary-node", labels={"canary-label": "canary-value", "kubernetes.io/hostname": "canary-node"}),
        pod(
            "canary-pod",
            queue="canary-queue",
            node="canary-node",
            namespace="canary-namespace",
            labels={"canary-label": "canary-value", "yunikorn.apache.org/queue": "root.canary-queue"},
            controller="ReplicaSet/canary-controller",
            user="canary-user",
            workload="canary-workload",
            pod_group="canary-volcano-group",
            scheduling_group="canary-group",
            application_label="canary-app",
            priority_class="canary-class",
            host_ports=(HostPort(80, ip="10.99.98.97"), HostPort(81)),
        ),
        ask("canary-ask", queue="canary-queue", unschedulable_message="canary: 0/1 nodes are available"),
    )
    group = SchedulingGroup(namespace="canary-namespace", name="canary-group", priority_class="canary-class")
    state.scheduling_groups[group.namespace, group.name] = group
    known = queue(namespaces=("canary-namespace",), former_paths=("root.canary-former",))
    given_tree = tree({"canary-queue": known})
    found = mask_names(state, MOMENT, given_tree)
    assert "canary" not in told(found)
    assert "10.99.98.97" not in told(found)
    (masked_group,) = found.state.scheduling_groups
    assert masked_group in {(one.namespace, one.scheduling_group) for one in found.state.pods.values()}
    ports = {port.port: port.ip for one in found.state.pods.values() for port in one.host_ports}
    assert ports[81] == ANY_ADDRESS != ports[80]


def test_a_value_that_is_no_number_is_a_name_also_where_others_are_compared_as_numbers() -> None:
    above = NodeSelectorTerm((Requirement("generation", "Gt", ("3",)),))
    state = state_of(
        node("new", labels={"generation": "4"}),
        node("old", labels={"generation": "canary"}),
        ask("p", queue="a", node_affinity=(above,)),
    )
    found = mask_names(state, MOMENT, tree({"a": queue()}))
    assert "canary" not in told(found)
    assert sum("4" in one.labels.values() for one in found.state.nodes.values()) == 1


def test_what_kubernetes_names_itself_stays() -> None:
    state = state_of(
        node("n", labels={"topology.kubernetes.io/zone": "secret-zone"}),
        pod("p", namespace="kube-system", node="n", priority_class="system-node-critical"),
    )
    found = mask_names(state, MOMENT, tree({"a": queue()}))
    (kept,) = found.state.pods.values()
    assert (kept.namespace, kept.priority_class) == ("kube-system", "system-node-critical")
    (n,) = found.state.nodes.values()
    assert n.labels.keys() == {"topology.kubernetes.io/zone"}


def test_a_pod_in_a_dynamic_queue_names_it_and_finds_it_written() -> None:
    rules = (Rule(name=RuleName.TAG, value="namespace", create=True),)
    given_tree = QueueTree(ROOT_ONLY.queues.values(), rules)
    state = state_of(node("n"), pod("p", node="n", namespace="team"))
    found = mask_names(state, MOMENT, given_tree)
    snapshot = found.moment.snapshot(found.state, found.tree)
    assert snapshot.pods[0].queue in found.tree.queues
    assert found.tree.placement == ()
