"""Sets fields that the API server fills in when a manifest omits them."""

from simulator.kinds import ApiResource
from simulator.objects import Object, clone


def apply(kind: ApiResource, obj: Object) -> None:
    """Fill in the defaults of a kind, in place."""
    fill = _DEFAULTS.get(kind.key)
    if fill is not None:
        fill(obj)


def pod_spec(spec: Object) -> None:
    """Fill in the defaults of a pod's or a pod template's specification, in place."""
    for field, value in (
        ("restartPolicy", "Always"),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
        ("terminationGracePeriodSeconds", 30),
        ("securityContext", {}),
    ):
        spec.setdefault(field, clone(value))
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        _container(container)


def _container(container: Object) -> None:
    image = container.get("image", "")
    latest = ":" not in image.rpartition("/")[2] or image.endswith(":latest")
    for field, value in (
        ("imagePullPolicy", "Always" if latest else "IfNotPresent"),
        ("resources", {}),
        ("terminationMessagePath", "/dev/termination-log"),
        ("terminationMessagePolicy", "File"),
    ):
        container.setdefault(field, value)
    resources = container["resources"]
    for name, amount in (resources.get("limits") or {}).items():
        resources.setdefault("requests", {}).setdefault(name, amount)
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")


def _pod(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = "default"
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _replica_set(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    template = spec.setdefault("template", {})
    pod_spec(template.setdefault("spec", {}))
    obj.setdefault("status", {}).setdefault("replicas", 0)


def _job(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    for field, value in (
        ("parallelism", 1),
        ("backoffLimit", 6),
        ("completionMode", "NonIndexed"),
        ("suspend", False),
        ("podReplacementPolicy", "TerminatingOrFailed"),
    ):
        spec.setdefault(field, value)
    meta = obj["metadata"]
    labels = {
        "batch.kubernetes.io/controller-uid": meta["uid"],
        "batch.kubernetes.io/job-name": meta["name"],
        "controller-uid": meta["uid"],
        "job-name": meta["name"],
    }
    template = spec.setdefault("template", {})
    pod_spec(template.setdefault("spec", {}))
    if not spec.get("manualSelector"):
        template.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
        spec.setdefault("selector", {"matchLabels": {"batch.kubernetes.io/controller-uid": meta["uid"]}})
    obj.setdefault("status", {})


def _namespace(obj: Object) -> None:
    name = obj["metadata"]["name"]
    obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), "kubernetes.io/metadata.name": name}
    obj.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    obj.setdefault("status", {}).setdefault("phase", "Active")


def _claim(obj: Object) -> None:
    obj.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _volume(obj: Object) -> None:
    _claim(obj)
    obj["spec"].setdefault("persistentVolumeReclaimPolicy", "Retain")


def _node(obj: Object) -> None:
    status = obj.get("status") or {}
    if status.get("capacity"):
        status.setdefault("allocatable", clone(status["capacity"]))


def _priority_class(obj: Object) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _pod_group(obj: Object) -> None:
    obj.setdefault("spec", {}).setdefault("disruptionMode", {"single": {}})


def _secret(obj: Object) -> None:
    obj.setdefault("type", "Opaque")


_DEFAULTS = {
    "pods": _pod,
    "replicasets.apps": _replica_set,
    "jobs.batch": _job,
    "namespaces": _namespace,
    "nodes": _node,
    "persistentvolumeclaims": _claim,
    "persistentvolumes": _volume,
    "podgroups.scheduling.k8s.io": _pod_group,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "secrets": _secret,
}
