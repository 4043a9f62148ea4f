"""The volume controller: binds claims to the volumes that they name, permanently. Nothing is provisioned."""

from functools import partial
from typing import ClassVar

from simulator.controllers.component import Controller
from simulator.objects import Object
from simulator.storage.store import Event

CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
BOUND = "pv.kubernetes.io/bind-completed"
BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


class Volumes(Controller):
    """Binds claims to the volumes that they name, and writes the phase of every volume."""

    watches: ClassVar[tuple[str, ...]] = (CLAIMS, VOLUMES)

    def on_event(self, event: Event) -> None:
        """Enqueue a volume when it, or a claim that names it, has changed."""
        name = event.object["metadata"]["name"]
        if event.key == CLAIMS:
            name = event.object["spec"].get("volumeName", "")
        self.enqueue("", name)

    def sync(self, namespace: str, name: str) -> None:
        """Bind the volume to the first claim that names it, unless it belongs to another claim."""
        del namespace  # volumes have no namespace
        volume = self.store.find(VOLUMES, None, name)
        if volume is None:
            return
        held = volume["spec"].get("claimRef")
        claim = self._claim(name, held)
        phase = "Bound" if claim else "Released" if held and held.get("uid") else "Available"
        self.store.mutate(VOLUMES, None, name, partial(_take, claim, phase))
        if claim is not None:
            meta = claim["metadata"]
            self.store.mutate(CLAIMS, meta["namespace"], meta["name"], partial(_bind, volume))

    def _claim(self, volume: str, held: Object | None) -> Object | None:
        naming = [claim for claim in self.store.list(CLAIMS) if claim["spec"].get("volumeName") == volume]
        return next((claim for claim in naming if held is None or _means(held, claim["metadata"])), None)


def _means(held: Object, meta: Object) -> bool:
    same = (held.get("namespace"), held.get("name")) == (meta["namespace"], meta["name"])
    return same and held.get("uid") in (None, "", meta["uid"])


def _take(claim: Object | None, phase: str, volume: Object) -> None:
    volume["status"]["phase"] = phase
    if claim is None or (volume["spec"].get("claimRef") or {}).get("uid"):
        return
    if "claimRef" not in volume["spec"]:
        volume["metadata"].setdefault("annotations", {})[BY_CONTROLLER] = "yes"
    fields = ("namespace", "name", "uid", "resourceVersion")
    reference = {field: claim["metadata"][field] for field in fields}
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", **reference}


def _bind(volume: Object, claim: Object) -> None:
    claim["metadata"].setdefault("annotations", {})[BOUND] = "yes"
    fields = {"accessModes": volume["spec"].get("accessModes"), "capacity": volume["spec"].get("capacity")}
    claim["status"] |= {"phase": "Bound", **{field: value for field, value in fields.items() if value}}
