"""A cluster's state is written as manifests, and reads back as it was."""

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given

from engine.formats.kubernetes.convert import LONGEST_MESSAGE
from engine.formats.kubernetes.decode import DecodeError, cluster_state
from engine.formats.kubernetes.placeholders import unread_class, unread_node, unread_pod
from engine.formats.kubernetes.writing.manifests import manifests
from engine.model.objects import Pod
from engine.model.snapshot import ClusterState
from engine.planning import journal
from tests.engine.kubernetes_objects import OBJECTS, PREFERRED, REQUIRED, container, pod
from tests.fidelity.recorded import some

DATA = Path(__file__).parents[1] / "data"
RECORDED = sorted(DATA.glob("*/*.jsonl.gz"))


def read(*objects: Any) -> ClusterState:
    return cluster_state(objects)[0]


def written_and_read(state: ClusterState) -> ClusterState:
    """By way of JSON, as a file holds it; everything that is written is read."""
    text = msgspec.json.encode(list(manifests(state)))
    found, ignored, _ = cluster_state(msgspec.json.decode(text))
    assert ignored == ()
    return found


def kept(**spec: Any) -> Pod:
    """A pod with this spec, once it was written and read."""
    state = read(pod({"containers": [container({"cpu": "1"})], **spec}))
    again = written_and_read(state)
    assert journal.same_state(again, state)
    return next(iter(again.pods.values()))


@pytest.mark.parametrize("file", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_recorded_clusters_read_back_as_they_were(file: Path) -> None:
    with gzip.open(file) as lines:
        states = [read(*msgspec.json.decode(line)["objects"]) for line in some(lines)]
    assert states
    assert all(journal.same_state(written_and_read(state), state) for state in states)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_whatever_can_be_read_reads_back_as_it_was(meta: Any, spec: Any, status: Any) -> None:
    name = {"name": "p", **meta} if isinstance(meta, dict) else {"name": "p"}
    kinds = ("Pod", "Node", "PriorityClass", "PodDisruptionBudget", "PersistentVolumeClaim", "PersistentVolume")
    for kind in (*kinds, "PodGroup"):
        document = {"apiVersion": "scheduling.k8s.io/v1beta1" if kind == "PodGroup" else "v1", "kind": kind}
        try:
            state, _, unread = cluster_state([{**document, "metadata": name, "spec": spec, "status": status}])
        except DecodeError:
            continue
        if not unread:
            assert journal.same_state(written_and_read(state), state)


class TestAPodKeeps:
    def test_its_times_to_the_millisecond(self) -> None:
        state = read(pod(status={"startTime": "2026-01-01T00:00:00.123Z"}, creationTimestamp="2026-01-01T00:00:00Z"))
        assert journal.same_state(written_and_read(state), state)

    def test_that_it_is_on_its_way_out_since_when(self) -> None:
        state = read(pod(deletionTimestamp="2026-01-01T00:01:00Z", deletionGracePeriodSeconds=40))
        (again,) = written_and_read(state).pods.values()
        assert again.terminating
        assert again.deleted_ms == 1_767_225_620_000

    def test_what_its_scheduler_says_of_it(self) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
        state = read(pod(status={"conditions": [condition | {"lastTransitionTime": "2026-01-01T00:00:00Z"}]}))
        (again,) = written_and_read(state).pods.values()
        assert again.unschedulable_message == "0/3 nodes"
        assert journal.same_state(written_and_read(state), state)

    @pytest.mark.parametrize(
        "condition",
        [
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "for a/b"},
            {"type": "Ready", "status": "False", "reason": "Evict", "message": "Pod is evicted, because of reclaim"},
        ],
        ids=lambda condition: str(condition["type"]),
    )
    def test_who_makes_it_go(self, condition: dict[str, str]) -> None:
        state = read(pod(status={"conditions": [condition | {"lastTransitionTime": "2026-01-01T00:00:00Z"}]}))
        (again,) = written_and_read(state).pods.values()
        assert again.disruption == condition["reason"]
        assert journal.same_state(written_and_read(state), state)

    def test_who_submitted_it(self) -> None:
        info = '{"user": "ann", "groups": ["dev"]}'
        state = read(pod(annotations={"yunikorn.apache.org/user.info": info}))
        (again,) = written_and_read(state).pods.values()
        assert (again.user, again.groups) == ("ann", ("dev",))

    def test_that_it_has_more_rules_than_can_be_judged(self) -> None:
        wish = {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        assert kept(topologySpreadConstraints=[wish] * 101).unread_rules == ("affinity",)

    @pytest.mark.parametrize("rule", [{"volumes": [{"name": "v", "iscsi": {}}]}, {"resourceClaims": [{"name": "gpu"}]}])
    def test_that_it_has_rules_that_can_not_be_judged(self, rule: dict[str, Any]) -> None:
        assert kept(**rule).unread_rules == tuple(rule)

    def test_the_group_that_it_is_scheduled_with(self) -> None:
        assert kept(schedulingGroup={"podGroupName": "workers"}).scheduling_group == "workers"

    def test_which_nodes_it_likes_best(self) -> None:
        term = {"weight": 7, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
        liked = kept(affinity={"nodeAffinity": {PREFERRED: [term]}}).preferred_affinity
        assert [(one.weight, one.term.expressions[0].key) for one in liked] == [(7, "disk")]

    @pytest.mark.parametrize(
        ("requests", "scored"),
        [
            ([{"cpu": "1", "memory": "1Gi"}], {}),
            ([{"cpu": "1"}], {"cpu": 1000, "memory": 200 * 2**20}),
            ([{}, {}], {"cpu": 200, "memory": 400 * 2**20}),
            ([{"cpu": "0"}, {"memory": "0"}], {"cpu": 100, "memory": 200 * 2**20}),
        ],
    )
    def test_what_its_containers_without_requests_count_as(
        self, requests: list[dict[str, str]], scored: dict[str, int]
    ) -> None:
        assert kept(containers=[container(one) for one in requests]).scored_requests == scored

    def test_the_claims_that_are_made_for_it_alone(self) -> None:
        assert kept(volumes=[{"name": "scratch", "ephemeral": {}}]).own_claims == ("p-scratch",)

    @pytest.mark.parametrize("selector", [None, {}, {"matchLabels": {"app": "web"}}])
    def test_a_selector_that_is_met_by_nothing_everything_or_some(self, selector: Any) -> None:
        term = {"topologyKey": "zone", "labelSelector": selector, "namespaceSelector": selector}
        assert kept(affinity={"podAntiAffinity": {REQUIRED: [term]}}).anti_affinity

    def test_a_node_affinity_that_no_node_meets(self) -> None:
        nowhere = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}
        assert len(kept(affinity=nowhere).node_affinity) == 1

    def test_a_long_message_no_longer_than_it_was_read(self) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "x" * 5_000}
        (again,) = written_and_read(read(pod(status={"conditions": [condition]}))).pods.values()
        assert len(again.unschedulable_message) == LONGEST_MESSAGE

    @pytest.mark.parametrize("type_", ["PodScheduled", "DisruptionTarget"])
    def test_that_a_condition_has_a_character_that_no_database_takes_only_without_it(self, type_: str) -> None:
        status, reason = ("False", "Unschedulable") if type_ == "PodScheduled" else ("True", "Evict\0ed")
        condition = {"type": type_, "status": status, "reason": reason, "message": "no\0room"}
        (again,) = read(pod(status={"conditions": [condition]})).pods.values()
        assert "noroom" in (again.unschedulable_message, again.disruption_message)
        assert again.disruption in ("", "Evicted")


def test_what_could_not_be_read_stays_marked_so() -> None:
    state = ClusterState()
    meta = b'{"metadata": {"name": "odd", "namespace": "a", "uid": "u"}}'
    state.pods["u"] = unread_pod(meta, None)
    state.nodes["odd"] = unread_node(meta, None)
    state.classes["odd"] = unread_class(meta, None)
    again = written_and_read(state)
    assert again.pods["u"].unread
    assert again.nodes["odd"].unread
    assert again.classes["odd"].opted_out


def test_everything_is_written_in_the_same_order_whatever_order_it_came_in() -> None:
    pods = [pod(name=name, uid=name) for name in ("b", "a", "c")]
    assert list(manifests(read(*pods))) == list(manifests(read(*reversed(pods))))
