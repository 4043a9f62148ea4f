"""Volumes of an ask of wild cases: claims bound to local and zonal volumes, and claims that wait or are missing."""

from collections.abc import Callable

from tests.fidelity.world import HOSTNAME, ZONE, ZONES, Manifest, World

WAIT, AT_ONCE = "WaitForFirstConsumer", "Immediate"


def add_volumes(world: World, pod: Manifest) -> None:
    """One or two volumes of different kinds; the kinds become tags."""
    kinds = [kind for kind in KINDS if kind not in FATAL or world.chance(0.25)]
    for kind in world.rng.sample(kinds, world.rng.randint(1, 2)):
        world.tags.add(f"volumes-{kind}")
        KINDS[kind](world, pod)


def _mount(pod: Manifest, claim: str) -> None:
    volumes = pod["spec"].setdefault("volumes", [])
    volumes.append({"name": f"v{len(volumes)}", "persistentVolumeClaim": {"claimName": claim}})


def _storage_class(world: World, name: str, mode: str, provisioner: str, **more: object) -> str:
    if not any(o["kind"] == "StorageClass" and o["metadata"]["name"] == name for o in world.objects):
        metadata = world.metadata(name)
        world.add(
            "StorageClass",
            "storage.k8s.io/v1",
            metadata,
            provisioner=provisioner,
            reclaimPolicy="Delete",
            volumeBindingMode=mode,
            **more,
        )
    return name


def _claim(
    world: World, pod: Manifest, name: str, class_name: str, *, volume: str = "", mode: str = "ReadWriteOnce"
) -> Manifest:
    metadata = world.metadata(name, pod["metadata"]["namespace"])
    spec: Manifest = {
        "accessModes": [mode],
        "resources": {"requests": {"storage": "5Gi"}},
        "storageClassName": class_name,
        "volumeMode": "Filesystem",
    }
    status = {"phase": "Pending"}
    if volume:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        spec["volumeName"], status["phase"] = volume, "Bound"
    return world.add("PersistentVolumeClaim", "v1", metadata, spec=spec, status=status)


def _volume(
    world: World, name: str, class_name: str, required: Manifest | None, claim: Manifest | None, **metadata: object
) -> None:
    spec: Manifest = {
        "capacity": {"storage": "10Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": class_name,
        "volumeMode": "Filesystem",
        "csi": {"driver": "csi.example.com", "volumeHandle": name},
    }
    if required:
        spec["nodeAffinity"] = {"required": required}
    if claim:
        spec["accessModes"] = claim["spec"]["accessModes"]
        held = claim["metadata"]
        spec["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"} | {
            k: held[k] for k in ("namespace", "name", "uid")
        }
    status = {"phase": "Bound" if claim else "Available"}
    world.add("PersistentVolume", "v1", world.metadata(name, **metadata), spec=spec, status=status)


def _on(key: str, values: list[str]) -> Manifest:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]}]}


def _hosts(world: World) -> list[str]:
    return world.some([str(node["metadata"]["name"]) for node in world.nodes])


def _local(world: World, pod: Manifest) -> None:
    claim = _claim(
        world, pod, "local", _storage_class(world, "local", WAIT, "kubernetes.io/no-provisioner"), volume="pv-local"
    )
    _volume(world, "pv-local", "local", _on(HOSTNAME, _hosts(world)), claim)
    _mount(pod, "local")


def _zonal(world: World, pod: Manifest) -> None:
    claim = _claim(world, pod, "zonal", _storage_class(world, "zonal", WAIT, "csi.example.com"), volume="pv-zonal")
    _volume(world, "pv-zonal", "zonal", _on(ZONE, world.some(ZONES)), claim)
    _mount(pod, "zonal")


def _zone_label(world: World, pod: Manifest) -> None:
    """The older way: a label of the volume, which may list several zones."""
    claim = _claim(
        world, pod, "labelled", _storage_class(world, "zonal", WAIT, "csi.example.com"), volume="pv-labelled"
    )
    _volume(world, "pv-labelled", "zonal", None, claim, labels={ZONE: "__".join(world.some(ZONES))})
    _mount(pod, "labelled")


def _anywhere(world: World, pod: Manifest) -> None:
    claim = _claim(world, pod, "shared", _storage_class(world, "zonal", WAIT, "csi.example.com"), volume="pv-shared")
    _volume(world, "pv-shared", "zonal", None, claim)
    _mount(pod, "shared")


def _unbound(world: World, pod: Manifest) -> None:
    _claim(world, pod, "unbound", _storage_class(world, "at-once", AT_ONCE, "csi.example.com"))
    _mount(pod, "unbound")


def _waiting(world: World, pod: Manifest) -> None:
    """A claim that is provided for where its first pod comes, in some classes only in some zones."""
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": world.some(ZONES)}]}]
    more = {"allowedTopologies": topologies} if world.chance(0.5) else {}
    _claim(world, pod, "waiting", _storage_class(world, "wait", WAIT, "csi.example.com", **more))
    _mount(pod, "waiting")


def _waiting_local(world: World, pod: Manifest) -> None:
    """A claim that waits, with volumes on some nodes for it, of which no more are made."""
    _claim(world, pod, "waiting-local", _storage_class(world, "local", WAIT, "kubernetes.io/no-provisioner"))
    for number, host in enumerate(_hosts(world)):
        _volume(world, f"pv-free-{number}", "local", _on(HOSTNAME, [host]), None)
    _mount(pod, "waiting-local")


def _missing(world: World, pod: Manifest) -> None:
    _mount(pod, "missing")


def _read_write_once_pod(world: World, pod: Manifest) -> None:
    """A claim that one pod alone may use; now and then another does already."""
    name = "alone"
    class_name = _storage_class(world, "zonal", WAIT, "csi.example.com")
    claim = _claim(world, pod, name, class_name, volume="pv-alone", mode="ReadWriteOncePod")
    _volume(world, "pv-alone", "zonal", None, claim)
    _mount(pod, name)
    others = [
        p for p in world.pods if p["metadata"]["namespace"] == pod["metadata"]["namespace"] and "nodeName" in p["spec"]
    ]
    if others and world.chance(0.8):
        _mount(world.pick(others), name)


def _ephemeral(world: World, pod: Manifest) -> None:
    """A generic ephemeral volume: its claim is named after pod and volume, and owned by the pod (or not made yet)."""
    class_name = _storage_class(world, "zonal", WAIT, "csi.example.com")
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "5Gi"}},
        "storageClassName": class_name,
        "volumeMode": "Filesystem",
    }
    volumes = pod["spec"].setdefault("volumes", [])
    volumes.append({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}})
    if world.chance(0.25):
        return
    name = f"{pod['metadata']['name']}-scratch"
    claim = _claim(world, pod, name, class_name, volume="pv-scratch")
    owner = (
        pod["metadata"] if world.chance(0.85) else {"name": "another", "uid": "00000000-0000-4000-8000-999999999999"}
    )
    reference = {"apiVersion": "v1", "kind": "Pod", "controller": True, "blockOwnerDeletion": True}
    claim["metadata"]["ownerReferences"] = [reference | {k: owner[k] for k in ("name", "uid")}]
    _volume(world, "pv-scratch", "zonal", _on(ZONE, world.some(ZONES)), claim)


KINDS: dict[str, Callable[[World, Manifest], None]] = {
    "local": _local,
    "zonal": _zonal,
    "zone-label": _zone_label,
    "anywhere": _anywhere,
    "unbound": _unbound,
    "waiting": _waiting,
    "waiting-local": _waiting_local,
    "missing": _missing,
    "read-write-once-pod": _read_write_once_pod,
    "ephemeral": _ephemeral,
}
FATAL = ("unbound", "missing", "ephemeral")
"""Kinds with which a pod seldom goes anywhere."""
