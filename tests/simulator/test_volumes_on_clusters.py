"""Volumes, claims, and what the API server writes into rules about other pods, the same on the real control plane."""

from typing import Any

import pytest

from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.volumes import CLAIMS, VOLUMES, add_claim, add_volume
from tests.waiting import wait_for

BOUND = "pv.kubernetes.io/bind-completed"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def phase(cluster: AnyCluster, key: str, name: str) -> str:
    return cluster.get(key, name)["status"]["phase"]


def test_a_claim_is_bound_to_the_volume_that_it_names(cluster: AnyCluster) -> None:
    """Each says of the other that it is taken; who comes second gets nothing."""
    volume = add_volume(cluster, "v", node="n1")
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    claim = add_claim(cluster, "c", volume="v")
    assert (claim["status"]["phase"], claim["spec"]["volumeMode"]) == ("Pending", "Filesystem")
    wait_for(lambda: phase(cluster, CLAIMS, "c") == "Bound", "the claim is bound")
    wait_for(lambda: phase(cluster, VOLUMES, "v") == "Bound", "so is the volume")
    claim, volume = cluster.get(CLAIMS, "c"), cluster.get(VOLUMES, "v")
    assert (claim["metadata"]["annotations"][BOUND], claim["status"]["capacity"]) == ("yes", {"storage": "1Gi"})
    assert volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes"
    reference = volume["spec"]["claimRef"]
    assert (reference["kind"], reference["uid"]) == ("PersistentVolumeClaim", claim["metadata"]["uid"])
    add_claim(cluster, "late", volume="v")
    add_volume(cluster, "other")
    wait_for(lambda: phase(cluster, VOLUMES, "other") == "Available", "a volume that nobody claims is free")
    assert phase(cluster, CLAIMS, "late") == "Pending"


def test_a_volume_whose_claim_is_gone_is_nobodys(cluster: AnyCluster) -> None:
    """It is kept, with what was on it: a claim of the same name is another."""
    add_volume(cluster, "v")
    add_claim(cluster, "c", volume="v")
    wait_for(lambda: phase(cluster, VOLUMES, "v") == "Bound", "it is taken")
    cluster.delete(CLAIMS, "c")
    wait_for(lambda: phase(cluster, VOLUMES, "v") == "Released", "it is free")
    add_claim(cluster, "c", volume="v")
    add_volume(cluster, "w")
    add_claim(cluster, "d", volume="w")
    wait_for(lambda: phase(cluster, CLAIMS, "d") == "Bound", "another claim is bound")
    assert (phase(cluster, CLAIMS, "c"), phase(cluster, VOLUMES, "v")) == ("Pending", "Released")


def test_a_volume_may_be_set_aside_for_a_claim(cluster: AnyCluster) -> None:
    """Its claim has only to come; others that name it wait."""
    claim = {"namespace": cluster.namespace, "name": "c"}
    add_volume(cluster, "v", claimRef=claim)
    add_claim(cluster, "other", volume="v")
    add_claim(cluster, "c", volume="v")
    wait_for(lambda: phase(cluster, CLAIMS, "c") == "Bound", "its claim is bound")
    assert phase(cluster, CLAIMS, "other") == "Pending"
    volume = cluster.get(VOLUMES, "v")
    assert "pv.kubernetes.io/bound-by-controller" not in volume["metadata"].get("annotations", {})
    assert volume["spec"]["claimRef"]["uid"] == cluster.get(CLAIMS, "c")["metadata"]["uid"]


def test_a_namespace_is_labelled_with_its_name(cluster: AnyCluster) -> None:
    """Whatever is said instead."""
    labels = {"team": "a", "kubernetes.io/metadata.name": "another"}
    made = cluster.create("namespaces", {"metadata": {"name": f"{cluster.namespace}-b", "labels": labels}})
    assert made["metadata"]["labels"] == {"team": "a", "kubernetes.io/metadata.name": made["metadata"]["name"]}


def rule(**more: Any) -> dict[str, Any]:
    return {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "a"}}, **more}


ZONE = {"key": "app", "operator": "In", "values": ["p1"]}
ELSE = {"key": "app", "operator": "NotIn", "values": ["p1"]}


@pytest.mark.parametrize("which", ["podAffinity", "podAntiAffinity"])
def test_labels_that_a_rule_asks_for_become_part_of_it(cluster: AnyCluster, which: str) -> None:
    """On creation, of those that the pod has; a rule that is met by nothing stays so."""
    keys = {"matchLabelKeys": ["app", "missing"]}
    other = {"matchLabels": {"team": "a"}}
    given = [
        rule(**keys, labelSelector=other),
        rule(mismatchLabelKeys=["app"], labelSelector={**other, "matchExpressions": [ZONE | {"key": "b"}]}),
        rule(),
    ]
    preferred = [{"weight": 1, "podAffinityTerm": rule(**keys, labelSelector=other)}]
    made = cluster.add_pod("p1", affinity={which: {REQUIRED: given, PREFERRED: preferred}})
    found = made["spec"]["affinity"][which]
    assert [one["labelSelector"].get("matchExpressions") for one in found[REQUIRED]] == [
        [ZONE],
        [ZONE | {"key": "b"}, ELSE],
        None,
    ]
    assert found[PREFERRED][0]["podAffinityTerm"]["labelSelector"]["matchExpressions"] == [ZONE]
    assert found[REQUIRED][0]["matchLabelKeys"] == keys["matchLabelKeys"]
    changed = cluster.change("pods", "p1", lambda pod: pod["metadata"].update(labels={"app": "later"}))
    assert changed["spec"]["affinity"] == made["spec"]["affinity"]


def test_spread_constraints_and_volumes_stay_as_they_were_sent(cluster: AnyCluster) -> None:
    """But for the labels that a constraint asks for."""
    spread = {
        "maxSkew": 2,
        "minDomains": 3,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"b": "c"}},
        "matchLabelKeys": ["app"],
    }
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    made = cluster.add_pod("p1", topologySpreadConstraints=[spread], volumes=volumes)
    spread["labelSelector"]["matchExpressions"] = [ZONE]
    assert made["spec"]["topologySpreadConstraints"] == [spread]
    assert [one for one in made["spec"]["volumes"] if one["name"] == "data"] == volumes
