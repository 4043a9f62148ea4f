"""Pods as large and as varied as those of real clusters: JSON with all that the engine never reads.

A few hundred workloads make the pods, as Deployments, StatefulSets, Jobs and DaemonSets do: what pods share there,
they share here, and what is their own (name, uid, node, addresses, times) is their own.
"""

from random import Random

from benchmarks.filled import Form, scattered, uid
from benchmarks.real_sized import NAMESPACES, STAMP, WORKLOADS, Object, hexadecimal, managed, node_name

_PLAIN_TOLERATIONS = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for name in ("not-ready", "unreachable")
]
_CPUS = ("100m", "250m", "500m", "1", "2")
_MEMORIES = ("128Mi", "256Mi", "512Mi", "1Gi", "4Gi")


class Pods:
    """Pods of a cluster of so many nodes, made as they are sent; the same ones for the same seed."""

    def __init__(self, pods: int, nodes: int, seed: int) -> None:
        """``pods``: how many there are at the beginning; these are numbered as a server lists them."""
        random = Random(seed)
        workloads = sorted((_workload(number, random) for number in range(WORKLOADS)), key=_place)
        self._running = [Form(_placed(one, random)) for one in workloads]
        self._pending = [Form(_waiting(one)) for one in workloads]
        self._first, self._seed = pods, seed
        self._names = [node_name(number).encode() for number in range(nodes)]

    def json(self, number: int, version: int, start: bytes) -> bytes:
        """Return pod ``number``; one of two hundred is pending, the others run, spread evenly over the nodes.

        ``start``: since when it has run.
        """
        digits = scattered(number, self._seed)
        own = {
            b"number": b"%010x" % number,
            b"uid": uid(digits).encode(),
            b"version": b"%d" % version,
            b"created": b"2026-01-%02dT%02d:%02d:%02dZ" % (1 + number % 20, number % 24, number % 60, number % 59),
            b"token": digits[:5].encode(),
            b"container": digits.encode() * 2,
            b"address": b"10.%d.%d.%d" % (number % 200, number % 250, number % 240),
            b"node": self._names[number % len(self._names)],
            b"start": start,
        }
        forms = self._running if number % 200 else self._pending
        return forms[number * WORKLOADS // self._first if number < self._first else number % WORKLOADS].filled(own)


def _place(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _waiting(workload: Object) -> Object:
    waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": STAMP}
    waits["message"] = "0/5000 nodes are available: 5000 Insufficient cpu."
    return {**workload, "status": {"phase": "Pending", "conditions": [waits]}}


def _placed(workload: Object, random: Random) -> Object:
    spec, token = workload["spec"], "kube-api-access-<token>"
    mounts = [{"name": token, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]
    containers = [{**one, "volumeMounts": mounts} for one in spec["containers"]]
    volumes = [{**spec["volumes"][0], "name": token}, *spec["volumes"][1:]]
    placed = {**spec, "containers": containers, "volumes": volumes, "nodeName": "<node>"}
    return {"metadata": workload["metadata"], "spec": placed, "status": _status(containers, random)}


def _workload(number: int, random: Random) -> Object:
    """What the pods of one owner share."""
    kind = ("ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Job", "DaemonSet")[number % 6]
    name = f"service-{number:03}"
    labels = {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/part-of": f"product-{number % 40}",
        "pod-template-hash": hexadecimal(random, 10),
        "queue": f"root.tenant-{number % 20}.team-{number % 100}",
    }
    tolerations = [*_PLAIN_TOLERATIONS]
    if number % 10 == 0:
        tolerations.append({"key": "dedicated", "operator": "Equal", "value": f"pool-{number % 3}"})
    controller = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid(hexadecimal(random, 32))}
    owner = f"{name}-{hexadecimal(random, 10)}-"
    containers = [_container(name, place, random) for place in range(2 if number % 8 == 0 else 1)]
    return {
        "metadata": {
            "generateName": owner,
            "name": f"{owner}<number>",
            "uid": "<uid>",
            "resourceVersion": "<version>",
            "creationTimestamp": "<created>",
            "namespace": f"team-{number % NAMESPACES:02}",
            "labels": labels,
            "annotations": {"prometheus.io/scrape": "true", "checksum/config": hexadecimal(random, 64)},
            "ownerReferences": [{**controller, "controller": True}],
            "managedFields": [managed("kube-controller-manager", labels), managed("kubelet", {})],
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
        "env": [{"name": "SETTING", "value": hexadecimal(random, 24)}],
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


def _status(containers: list[Object], random: Random) -> Object:
    return {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-01-21T08:00:00Z"}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": "<address>",
        "podIP": "<address>",
        "podIPs": [{"ip": "<address>"}],
        "startTime": "<start>",
        "qosClass": "Burstable",
        "containerStatuses": [
            {
                "name": one["name"],
                "image": one["image"],
                "imageID": f"{one['image']}@sha256:{hexadecimal(random, 64)}",
                "containerID": "containerd://<container>",
                "ready": True,
                "started": True,
                "restartCount": random.randrange(3),
                "state": {"running": {"startedAt": "2026-01-21T08:00:00Z"}},
            }
            for one in containers
        ],
    }
