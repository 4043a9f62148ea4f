"""Nodes, claims and volumes as large and as varied as those of real clusters: JSON with all that is never read.

None of them is stored: each is made whenever it is sent. Pods are in ``real_pods``.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from benchmarks.filled import Form, scattered, uid

Object = dict[str, Any]

STAMP = "2026-01-01T00:00:00Z"
"""Since when pods have run that did not change, and when nodes last reported their health."""
WORKLOADS = 400
NAMESPACES = 60


class Objects:
    """Objects of one kind, made as they are sent; the same ones for the same seed."""

    def __init__(self, forms: Sequence[Form], own: Callable[[int, str], dict[bytes, str]], seed: int) -> None:
        """``own`` returns the texts of an object's own, from its number and from digits that look drawn by chance."""
        self._forms, self._own, self._seed = forms, own, seed

    def json(self, number: int, version: int = 1) -> bytes:
        """Return object ``number``."""
        digits = scattered(number, self._seed)
        own = {name: text.encode() for name, text in self._own(number, digits).items()}
        own |= {b"uid": uid(digits).encode(), b"version": b"%d" % version}
        return self._forms[number % len(self._forms)].filled(own)


def node_name(number: int) -> str:
    """Return the name of a node."""
    return f"ip-10-{number // 250}-{number % 250}-17.eu-central-1.compute.internal"


def nodes(seed: int) -> Objects:
    """Return nodes, about 6 kB each."""
    random = Random(seed)
    return Objects([Form(_node(one, random)) for one in range(9)], _own_of_node, seed)


def _own_of_node(number: int, digits: str) -> dict[bytes, str]:
    return {b"name": node_name(number), b"instance": digits[:17], b"net": f"10.{number % 250}.0.0/24"}


def _node(number: int, random: Random) -> Object:
    labels = {
        "kubernetes.io/hostname": "<name>",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
        "topology.kubernetes.io/region": "eu-central-1",
        "node.kubernetes.io/instance-type": random.choice(("m6i.8xlarge", "m6i.16xlarge", "c6i.8xlarge")),
    }
    room = {"cpu": "32", "memory": "131072Mi", "pods": "110", "ephemeral-storage": "104845292Ki", "hugepages-2Mi": "0"}
    conditions = [
        {"type": kind, "status": "False", "reason": f"KubeletHas{kind}", "lastHeartbeatTime": STAMP}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    conditions.append({"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": STAMP})
    images = [
        {
            "names": [f"registry.example/team/{one}@sha256:{hexadecimal(random, 64)}"],
            "sizeBytes": random.randrange(10**9),
        }
        for one in range(25)
    ]
    return {
        "metadata": {
            "name": "<name>",
            "uid": "<uid>",
            "resourceVersion": "<version>",
            "creationTimestamp": "2025-11-03T10:00:00Z",
            "labels": labels,
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            "managedFields": [managed("kubelet", labels)],
        },
        "spec": {"podCIDR": "<net>", "providerID": "aws:///eu-central-1/i-<instance>"},
        "status": {"capacity": room, "allocatable": room, "conditions": conditions, "images": images},
    }


def namespaces(seed: int) -> Objects:
    """Return those that pods run in, and others beside."""
    forms = [Form(_namespace(number)) for number in range(100)]
    return Objects(forms, lambda number, _digits: {b"number": f"{number:02}"}, seed)


def _namespace(number: int) -> Object:
    labels = {"team": f"team-{number}", "pod-security.kubernetes.io/enforce": "baseline"}
    meta = {"name": "team-<number>", "uid": "<uid>", "resourceVersion": "<version>", "labels": labels}
    return {"metadata": meta, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def claims(seed: int) -> Objects:
    """Return claims that are bound to the volumes of their numbers, 1.3 kB each."""
    random = Random(seed)
    forms = [Form(_claim(number, random)) for number in range(WORKLOADS)]
    return Objects(forms, lambda number, _digits: {b"number": str(number), b"at": str(number // WORKLOADS)}, seed)


def _claim(number: int, random: Random) -> Object:
    notes = {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
        "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com",
    }
    meta = {
        "name": f"data-service-{number:03}-<at>",
        "namespace": f"team-{number % NAMESPACES:02}",
        "uid": "<uid>",
        "resourceVersion": "<version>",
        "creationTimestamp": "2026-01-21T08:00:00Z",
        "labels": {"app.kubernetes.io/name": f"service-{number:03}"},
        "annotations": notes,
        "finalizers": ["kubernetes.io/pvc-protection"],
        "managedFields": [managed("kube-controller-manager", notes), managed("kube-scheduler", {})],
    }
    size = {"storage": f"{random.choice((10, 100, 500))}Gi"}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": size}, "storageClassName": "gp3"}
    status = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": size}
    return {
        "metadata": meta,
        "spec": {**spec, "volumeName": "pvc-<number>", "volumeMode": "Filesystem"},
        "status": status,
    }


def volumes(many: int, seed: int) -> Objects:
    """Return volumes of a zone each, or one of ten of one of ``many`` nodes, 1.5 kB each."""

    def own(number: int, digits: str) -> dict[bytes, str]:
        return {b"number": str(number), b"node": node_name(number % many), b"handle": digits[:17]}

    return Objects([Form(_volume(number)) for number in range(30)], own, seed)


def _volume(number: int) -> Object:
    zone = {"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": [f"eu-central-1{'abc'[number % 3]}"]}
    local = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["<node>"]}
    notes = {
        "pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com",
        "volume.kubernetes.io/provisioner-deletion-secret": "",
    }
    meta = {
        "name": "pvc-<number>",
        "uid": "<uid>",
        "resourceVersion": "<version>",
        "creationTimestamp": "2026-01-21T08:00:00Z",
        "annotations": notes,
        "finalizers": ["external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection"],
        "managedFields": [managed("csi-provisioner", notes), managed("kube-controller-manager", {})],
    }
    reach = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone if number % 10 else local]}]}}
    source = {"driver": "ebs.csi.aws.com", "fsType": "ext4", "volumeHandle": "vol-<handle>"}
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "100Gi"}, "csi": source, "nodeAffinity": reach}
    held = {"kind": "PersistentVolumeClaim", "namespace": "a", "name": "data-<number>", "uid": "<uid>"}
    return {"metadata": meta, "spec": {**spec, "claimRef": held}, "status": {"phase": "Bound"}}


def managed(manager: str, labels: Object) -> Object:
    """Return an entry of managedFields, by which the API server remembers who set what."""
    fields = {"f:labels": {f"f:{key}": {} for key in labels}, "f:ownerReferences": {".": {}}}
    status = {f'k:{{"type":"{kind}"}}': {".": {}, "f:status": {}, "f:type": {}} for kind in ("Ready", "Initialized")}
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-21T08:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": fields} if labels else {"f:status": {"f:conditions": status, "f:phase": {}}},
    }


def hexadecimal(random: Random, digits: int) -> str:
    """Return some hexadecimal digits, drawn by chance."""
    return f"{random.getrandbits(4 * digits):0{digits}x}"
