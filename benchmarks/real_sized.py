"""Pods and nodes as large and as varied as those of real clusters: JSON with all that the engine never reads.

A few hundred workloads make the pods, as Deployments, StatefulSets, Jobs and DaemonSets do: what pods share there,
they share here, and what is their own (name, uid, node, addresses, times) is their own.
"""

from random import Random
from typing import Any

Object = dict[str, Any]

STAMP = "2026-01-01T00:00:00Z"
"""Where a pod's own start stands in its bytes, to be put in as it is sent."""
WORKLOADS = 400
_NAMESPACES = 60
_PLAIN_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for name in ("not-ready", "unreachable")
]
_CPUS = ("100m", "250m", "500m", "1", "2")
_MEMORIES = ("128Mi", "256Mi", "512Mi", "1Gi", "4Gi")


def node(number: int, random: Random) -> Object:
    """One of the cluster's nodes, about 6 kB."""
    name = f"ip-10-{number // 250}-{number % 250}-17.eu-central-1.compute.internal"
    labels = {
        "kubernetes.io/hostname": name,
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
        {"names": [f"registry.example/team/{one}@sha256:{_hex(random, 64)}"], "sizeBytes": random.randrange(10**9)}
        for one in range(25)
    ]
    return {
        "metadata": {
            "name": name,
            "uid": _uid(random),
            "resourceVersion": str(number + 1),
            "creationTimestamp": "2025-11-03T10:00:00Z",
            "labels": labels,
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            "managedFields": [_managed("kubelet", labels)],
        },
        "spec": {"podCIDR": f"10.{number % 250}.0.0/24", "providerID": f"aws:///eu-central-1/i-{_hex(random, 17)}"},
        "status": {"capacity": room, "allocatable": room, "conditions": conditions, "images": images},
    }


class Pods:
    """Makes pods, the same ones for the same seed."""

    def __init__(self, nodes: list[str], seed: int) -> None:
        self._random = Random(seed)
        self._nodes = nodes
        self._workloads = [_workload(number, self._random) for number in range(WORKLOADS)]

    def make(self, number: int) -> Object:
        """Pod ``number``; one of two hundred is pending, the others run, spread evenly over the nodes."""
        random = self._random
        workload = random.choice(self._workloads)
        meta, spec = workload["metadata"], workload["spec"]
        own = {
            **meta,
            "name": f"{meta['generateName']}{_hex(random, 5)}{number}",
            "uid": _uid(random),
            "resourceVersion": str(1_000_000 + number),
            "creationTimestamp": f"2026-01-{1 + number % 20:02}T{number % 24:02}:{number % 60:02}:{number % 59:02}Z",
        }
        if number % 200 == 0:
            waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": STAMP}
            waits["message"] = "0/5000 nodes are available: 5000 Insufficient cpu."
            return {"metadata": own, "spec": spec, "status": {"phase": "Pending", "conditions": [waits]}}
        token = f"kube-api-access-{_hex(random, 5)}"
        mounts = [{"name": token, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]
        spec = {
            **spec,
            "containers": [{**one, "volumeMounts": mounts} for one in spec["containers"]],
            "volumes": [{**spec["volumes"][0], "name": token}, *spec["volumes"][1:]],
        }
        placed = {**spec, "nodeName": self._nodes[number % len(self._nodes)]}
        return {"metadata": own, "spec": placed, "status": _running(spec["containers"], number, random)}


def namespace(number: int, random: Random) -> Object:
    """One of those that pods run in, and others beside."""
    labels = {"team": f"team-{number % 100}", "pod-security.kubernetes.io/enforce": "baseline"}
    meta = {"name": f"team-{number:02}", "uid": _uid(random), "resourceVersion": str(number + 1), "labels": labels}
    return {"metadata": meta, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def claim(number: int, random: Random) -> Object:
    """A claim that is bound to the volume of its number, 1.3 kB."""
    notes = {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
        "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com",
    }
    meta = {
        "name": f"data-service-{number % WORKLOADS:03}-{number // WORKLOADS}",
        "namespace": f"team-{number % WORKLOADS % _NAMESPACES:02}",
        "uid": _uid(random),
        "resourceVersion": str(2_000_000 + number),
        "creationTimestamp": "2026-01-21T08:00:00Z",
        "labels": {"app.kubernetes.io/name": f"service-{number % WORKLOADS:03}"},
        "annotations": notes,
        "finalizers": ["kubernetes.io/pvc-protection"],
        "managedFields": [_managed("kube-controller-manager", notes), _managed("kube-scheduler", {})],
    }
    size = {"storage": f"{random.choice((10, 100, 500))}Gi"}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": size}, "storageClassName": "gp3"}
    status = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": size}
    return {
        "metadata": meta,
        "spec": {**spec, "volumeName": f"pvc-{number}", "volumeMode": "Filesystem"},
        "status": status,
    }


def volume(number: int, nodes: list[str], random: Random) -> Object:
    """A volume of a zone, or one of ten of a node, 1.5 kB."""
    zone = {"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": [f"eu-central-1{'abc'[number % 3]}"]}
    local = {"key": "kubernetes.io/hostname", "operator": "In", "values": [nodes[number % len(nodes)]]}
    notes = {
        "pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com",
        "volume.kubernetes.io/provisioner-deletion-secret": "",
    }
    meta = {
        "name": f"pvc-{number}",
        "uid": _uid(random),
        "resourceVersion": str(3_000_000 + number),
        "creationTimestamp": "2026-01-21T08:00:00Z",
        "annotations": notes,
        "finalizers": ["external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection"],
        "managedFields": [_managed("csi-provisioner", notes), _managed("kube-controller-manager", {})],
    }
    reach = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone if number % 10 else local]}]}}
    source = {"driver": "ebs.csi.aws.com", "fsType": "ext4", "volumeHandle": f"vol-{_hex(random, 17)}"}
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "100Gi"}, "csi": source, "nodeAffinity": reach}
    held = {"kind": "PersistentVolumeClaim", "namespace": "a", "name": f"data-{number}", "uid": _uid(random)}
    return {"metadata": meta, "spec": {**spec, "claimRef": held}, "status": {"phase": "Bound"}}


def _workload(number: int, random: Random) -> Object:
    """What the pods of one owner share."""
    kind = ("ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Job", "DaemonSet")[number % 6]
    name = f"service-{number:03}"
    labels = {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/part-of": f"product-{number % 40}",
        "pod-template-hash": _hex(random, 10),
        "queue": f"root.tenant-{number % 20}.team-{number % 100}",
    }
    tolerations = [*_PLAIN_TOLERATIONS]
    if number % 10 == 0:
        tolerations.append({"key": "dedicated", "operator": "Equal", "value": f"pool-{number % 3}"})
    containers = [_container(name, place, random) for place in range(2 if number % 8 == 0 else 1)]
    return {
        "metadata": {
            "generateName": f"{name}-{_hex(random, 10)}-",
            "namespace": f"team-{number % _NAMESPACES:02}",
            "labels": labels,
            "annotations": {"prometheus.io/scrape": "true", "checksum/config": _hex(random, 64)},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": _uid(random), "controller": True}
            ],
            "managedFields": [_managed("kube-controller-manager", labels), _managed("kubelet", {})],
        },
        "spec": {
            "containers": containers,
            "volumes": _volumes(name),
            "priority": random.choice((0, 0, 100, 1000)),
            "priorityClassName": random.choice(("", "batch", "service")),
            "preemptionPolicy": "PreemptLowerPriority",
            "nodeSelector": {"kubernetes.io/os": "linux"} if number % 3 == 0 else {},
            "tolerations": tolerations,
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": random.choice((30, 30, 60)),
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": name,
            "schedulerName": "default-scheduler",
        },
    }


def _container(name: str, place: int, random: Random) -> Object:
    size = {"cpu": random.choice(_CPUS), "memory": random.choice(_MEMORIES)}
    return {
        "name": f"{name}-{place}",
        "image": f"registry.example/team/{name}:{random.randrange(100)}.{random.randrange(100)}",
        "ports": [{"name": "http", "containerPort": 8080 + place, "protocol": "TCP"}],
        "env": [{"name": "SETTING", "value": _hex(random, 24)}],
        "resources": {"requests": size, "limits": {"memory": size["memory"]}},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10, "timeoutSeconds": 1},
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }


def _volumes(name: str) -> list[Object]:
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    ca = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    return [
        {"name": "kube-api-access", "projected": {"sources": [token, ca], "defaultMode": 420}},
        {"name": "config", "configMap": {"name": f"{name}-config", "defaultMode": 420}},
    ]


def _running(containers: list[Object], number: int, random: Random) -> Object:
    address = f"10.{number % 200}.{number % 250}.{number % 240}"
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-01-21T08:00:00Z"}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": address,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": STAMP,
        "qosClass": "Burstable",
        "containerStatuses": [
            {
                "name": one["name"],
                "image": one["image"],
                "imageID": f"{one['image']}@sha256:{_hex(random, 64)}",
                "containerID": f"containerd://{_hex(random, 64)}",
                "ready": True,
                "started": True,
                "restartCount": random.randrange(3),
                "state": {"running": {"startedAt": "2026-01-21T08:00:00Z"}},
            }
            for one in containers
        ],
    }


def _managed(manager: str, labels: Object) -> Object:
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


def _uid(random: Random) -> str:
    text = _hex(random, 32)
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _hex(random: Random, digits: int) -> str:
    return f"{random.getrandbits(4 * digits):0{digits}x}"
