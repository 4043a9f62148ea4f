"""Rules about other pods, claims, volumes and namespaces, as the engine reads them."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes.decode import (
    CLAIM_READER,
    NAMESPACE_READER,
    VOLUME_READER,
    DecodeError,
    cluster_state,
    decode_budget,
    decode_pod,
)
from engine.model.objects import AffinityTerm, Claim, Namespace, NodeSelectorTerm, Requirement, SpreadConstraint, Volume
from tests.engine.kubernetes_objects import OBJECTS, REQUIRED, pod

APP = {"matchLabels": {"app": "web"}}
WEB = (Requirement("app", "In", ("web",)),)
ZONE = "topology.kubernetes.io/zone"


def given_json(obj: Any) -> bytes:
    return json.dumps(obj).encode()


# Rules about other pods


def terms(*given: Any, rule: str = "podAffinity") -> tuple[AffinityTerm, ...]:
    got = decode_pod(pod({"affinity": {rule: {REQUIRED: list(given)}}}))
    return got.affinity if rule == "podAffinity" else got.anti_affinity


@pytest.mark.parametrize("rule", ["podAffinity", "podAntiAffinity"])
def test_a_term_means_pods_of_a_topology(rule: str) -> None:
    """By labels; one that says nothing of namespaces means the pod's own."""
    (got,) = terms({"topologyKey": "zone", "labelSelector": APP}, rule=rule)
    assert got == AffinityTerm("zone", WEB, ("a",), None)


@pytest.mark.parametrize(
    ("said", "names", "selector"),
    [
        ({"namespaces": ["b", "c"]}, ("b", "c"), None),
        ({"namespaceSelector": APP}, (), WEB),
        ({"namespaceSelector": {}}, (), ()),
        ({"namespaceSelector": {}, "namespaces": ["b"]}, ("b",), ()),
        ({"namespaceSelector": None, "namespaces": []}, ("a",), None),
    ],
)
def test_a_term_names_namespaces_or_means_those_of_some_labels(said: Any, names: Any, selector: Any) -> None:
    """An empty selector means every namespace, none at all no further one."""
    (got,) = terms({"topologyKey": "zone", "labelSelector": APP, **said})
    assert (got.namespaces, got.namespace_selector) == (names, selector)


def test_a_selector_that_is_missing_meets_nothing_and_an_empty_one_everything() -> None:
    """The two are told apart."""
    missing, empty = terms({"topologyKey": "zone"}, {"topologyKey": "zone", "labelSelector": {}})
    assert (missing.selector, empty.selector) == (None, ())


def test_a_selectors_expressions_stand_beside_its_labels() -> None:
    """Those that the API server makes of matchLabelKeys are among them, and are not read twice."""
    expressions = [{"key": "v", "operator": "In", "values": ["1"]}, {"key": "old", "operator": "DoesNotExist"}]
    selector = {**APP, "matchExpressions": expressions}
    (got,) = terms({"topologyKey": "zone", "labelSelector": selector, "matchLabelKeys": ["v"]})
    assert got.selector == (*WEB, Requirement("v", "In", ("1",)), Requirement("old", "DoesNotExist"))


def test_what_is_only_preferred_is_no_rule() -> None:
    """Nobody is kept out by it."""
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {}}]}
    got = decode_pod(pod({"affinity": {"podAffinity": preferred, "podAntiAffinity": preferred}}))
    assert (got.affinity, got.anti_affinity, got.unread_rules) == ((), (), ())


def spread(*given: Any, **labels: str) -> tuple[SpreadConstraint, ...]:
    return decode_pod(pod({"topologySpreadConstraints": list(given)}, labels=labels)).spread


def test_a_spread_constraint_is_read_whole() -> None:
    """Whatever may be set on it."""
    whole = {
        "topologyKey": "zone",
        "maxSkew": 2,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": APP,
        "minDomains": 3,
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
    }
    assert spread(whole) == (SpreadConstraint("zone", 2, WEB, 3, honor_affinity=False, honor_taints=True),)


def test_a_spread_constraint_has_kubernetes_defaults() -> None:
    """One domain at least, of nodes that the pod asks for, whatever their taints; without a selector of no pods."""
    assert spread({"topologyKey": "zone", "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}) == (
        SpreadConstraint("zone", 1, None, 1, honor_affinity=True, honor_taints=False),
    )


def test_a_spread_constraint_that_may_be_broken_is_none() -> None:
    """ScheduleAnyway is a wish."""
    assert spread({"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}) == ()


def test_a_spread_constraint_means_pods_with_the_pods_own_labels() -> None:
    """Of matchLabelKeys those that the pod has; a selector that meets nothing still meets nothing."""
    keys = {"matchLabelKeys": ["v", "missing"]}
    (one,) = spread({"topologyKey": "zone", "labelSelector": APP, **keys}, v="1", w="2")
    assert one.selector is not None
    assert set(one.selector) == {*WEB, Requirement("v", "In", ("1",))}
    (one,) = spread({"topologyKey": "zone", **keys}, v="1")
    assert one.selector is None


# Volumes of pods


def test_a_pod_names_its_claims() -> None:
    """Those that are its own, made for a generic ephemeral volume, are called after pod and volume."""
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
        {"name": "again", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "empty", "emptyDir": {}},
    ]
    got = decode_pod(pod({"volumes": volumes}))
    assert (got.claims, got.own_claims, got.unread_rules) == (("c", "c"), ("p-scratch",), ())


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"volumes": [{"name": "v", "gcePersistentDisk": {}}]}, "volumes"),
        ({"volumes": [{"name": "v", "awsElasticBlockStore": {}}]}, "volumes"),
        ({"volumes": [{"name": "v", "iscsi": {}}]}, "volumes"),
        ({"volumes": [{"name": "v", "rbd": {}}]}, "volumes"),
        ({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "c"}}]}, ""),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, ""),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone"}]}}}, ""),
        ({"topologySpreadConstraints": [{"topologyKey": "zone"}]}, ""),
        ({"resourceClaims": [{"name": "gpu"}]}, "resourceClaims"),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone"}] * 101}}}, "affinity"),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone"}] * 100}}}, ""),
    ],
)
def test_rules_that_are_not_judged_are_named(spec: Any, want: str) -> None:
    """A placement rule that is not read is named, so that the ask is left alone."""
    assert decode_pod(pod(spec)).unread_rules == ((want,) if want else ())


# Claims, volumes, namespaces


def claim(spec: Any = None, **meta: Any) -> Claim:
    return CLAIM_READER.from_bytes(given_json({"metadata": {"name": "c", "namespace": "a", **meta}, "spec": spec}))


BOUND = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}


def test_a_claim_is_bound_once_its_binding_is_complete() -> None:
    """A volume that it only names may yet become another's."""
    named = {"volumeName": "v", "accessModes": ["ReadWriteOnce"]}
    assert claim(named, **BOUND) == Claim(namespace="a", name="c", volume="v")
    assert claim(named) == claim(named, annotations={"other": "yes"}) == Claim(namespace="a", name="c")
    assert claim({}, **BOUND).volume == claim(None).volume == ""


def test_a_claim_waits_while_no_volume_was_chosen_for_it() -> None:
    """Perhaps for a pod's node; one on its way out waits for nothing."""
    assert claim({}).waiting
    assert claim(None).waiting
    assert not claim({"volumeName": "v"}).waiting
    assert not claim({}, deletionTimestamp="2026-01-01T12:00:00Z").waiting


def test_a_claim_made_for_a_pod_names_it() -> None:
    """By the uid of its controlling owner, whoever else owns it."""
    owners = [{"kind": "Set", "uid": "u1"}, {"kind": "Pod", "uid": "u2", "controller": True}]
    assert claim({}, ownerReferences=owners).owner == "u2"
    assert claim({}, ownerReferences=owners[:1]).owner == claim({}).owner == ""


def test_a_claim_on_its_way_out_is_bound_to_nothing() -> None:
    """kube-scheduler places no pod that uses it."""
    got = claim({"volumeName": "v"}, deletionTimestamp="2026-01-01T12:00:00Z", **BOUND)
    assert got.volume == ""


def test_a_claim_for_one_pod_alone_is_exclusive() -> None:
    """ReadWriteOncePod; ReadWriteOnce is of one node."""
    assert claim({"accessModes": ["ReadWriteOncePod"]}).exclusive
    assert not claim({"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}).exclusive


def volume(spec: Any = None, **labels: str) -> Volume:
    return VOLUME_READER.from_bytes(given_json({"metadata": {"name": "v", "labels": labels}, "spec": spec}))


def test_a_volume_says_which_nodes_reach_it() -> None:
    """By terms, of which one must match; none at all are met by no node, and without the rule every node reaches it."""
    rule = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}
    reach = lambda *terms: {"nodeAffinity": {"required": {"nodeSelectorTerms": list(terms)}}}  # noqa: E731
    one = NodeSelectorTerm((Requirement("kubernetes.io/hostname", "In", ("n1",)),))
    assert volume(reach({"matchExpressions": [rule]})).node_affinity == (one,)
    assert volume(reach()).node_affinity == (NodeSelectorTerm(),)
    assert volume({"nodeAffinity": {}}) == volume({}) == volume() == Volume(name="v")


@pytest.mark.parametrize(
    ("value", "want"),
    [("a", ("a",)), ("a__b", ("a", "b")), ("a__b__c", ("a", "b", "c")), (" a__b ", ("a", "b"))],
)
def test_a_volumes_labels_name_its_zones(value: str, want: tuple[str, ...]) -> None:
    """Several in one label, with two underscores between."""
    assert volume(**{ZONE: value}).zones == (Requirement(ZONE, "In", want),)


def test_every_label_of_zone_and_region_counts() -> None:
    """Those of before as well; what is no list of zones says nothing."""
    old = "failure-domain.beta.kubernetes.io/region"
    found = volume(**{old: "r", "topology.kubernetes.io/region": "r", ZONE: "a____b", "app": "x"}).zones
    assert {rule.key: rule.values for rule in found} == {old: ("r",), "topology.kubernetes.io/region": ("r",)}
    assert volume(**{ZONE: ""}).zones == ()


def test_a_namespace_is_labelled_with_its_name() -> None:
    """As the API server fills in, whatever is said instead."""
    name = "kubernetes.io/metadata.name"
    got = NAMESPACE_READER.from_bytes(given_json({"metadata": {"name": "a", "labels": {"team": "x", name: "b"}}}))
    assert got == Namespace(name="a", labels={"team": "x", name: "a"})
    assert NAMESPACE_READER.from_bytes(given_json({"metadata": {"name": "a"}})).labels == {name: "a"}


def test_documents_of_claims_volumes_and_namespaces_are_read() -> None:
    """Each is kept under its own name."""
    state, ignored, _ = cluster_state(
        [
            {"kind": "Namespace", "metadata": {"name": "a", "labels": {"team": "x"}}},
            {"kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "a"}},
            {"kind": "PersistentVolume", "metadata": {"name": "v"}},
        ]
    )
    assert state.namespaces["a"].labels["team"] == "x"
    assert (state.claims.keys(), state.volumes.keys(), ignored) == ({("a", "c")}, {"v"}, ())


READERS = (CLAIM_READER.from_bytes, VOLUME_READER.from_bytes, NAMESPACE_READER.from_bytes)


@given(st.dictionaries(st.sampled_from(["metadata", "spec"]), OBJECTS) | OBJECTS)
def test_whatever_comes_only_a_decode_error_is_raised(obj: Any) -> None:
    """No object, however odd, breaks a reader in another way."""
    for read in READERS:
        with contextlib.suppress(DecodeError):
            read(given_json(obj))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("obj", [{}, [], {"metadata": {"name": 1}}, {"metadata": {"name": "x", "labels": ["a"]}}])
def test_what_is_malformed_is_told_with_its_kind(read: Any, obj: Any) -> None:
    """And with its name, where it has one."""
    with pytest.raises(DecodeError) as caught:
        read(given_json(obj))
    assert caught.value.kind in ("PersistentVolumeClaim", "PersistentVolume", "Namespace")


# Budgets


def test_pods_that_a_budget_has_let_go_are_named() -> None:
    """In order of their names, whatever else stands there: they are in what it allows already."""
    gone = {"p2": "2026-01-01T12:00:00Z", "p1": None}
    status = {"disruptionsAllowed": 1, "disruptedPods": gone}
    got = decode_budget({"metadata": {"name": "b"}, "spec": {"selector": {}}, "status": status})
    assert (got.disrupted, got.allowed) == (("p1", "p2"), 1)
    assert decode_budget({"metadata": {"name": "b"}}).disrupted == ()
