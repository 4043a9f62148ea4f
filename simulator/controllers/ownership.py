"""Helpers of ReplicaSets and Jobs: find, create and delete the pods they own."""

from simulator.objects import Object, clone, condition_true
from simulator.status import ApiError
from simulator.storage.store import Store

FINISHED = ("Succeeded", "Failed")


def controller_of(obj: Object, kind: str) -> str | None:
    """Return the name of the owner of that kind that controls an object."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((item["name"] for item in owners if item.get("controller") and item["kind"] == kind), None)


def owned_pods(store: Store, owner: Object) -> list[Object]:
    """Return the pods that an object controls, by name."""
    uid, namespace = owner["metadata"]["uid"], owner["metadata"]["namespace"]
    names = sorted(name for key, space, name in store.dependents.get(uid, ()) if (key, space) == ("pods", namespace))
    pods = [store.get("pods", namespace, name) for name in names]
    return [pod for pod in pods if any(ref["uid"] == uid and ref.get("controller") for ref in _owners(pod))]


def _owners(pod: Object) -> list[Object]:
    return pod["metadata"].get("ownerReferences") or []


def active(pod: Object) -> bool:
    """Return whether a pod counts as one of its owner's: neither finished nor terminating."""
    return "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in FINISHED


def ready(pod: Object) -> bool:
    """Return whether a pod is Ready."""
    return condition_true(pod, "Ready")


def create_pod(store: Store, owner: Object) -> Object:
    """Create another pod from the owner's template. Raises ApiError as the store's `create` does."""
    template, meta = owner["spec"]["template"], owner["metadata"]
    template_meta = template.get("metadata") or {}
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    pod = {
        "metadata": {
            "generateName": f"{meta['name']}-",
            "namespace": meta["namespace"],
            **{field: clone(template_meta[field]) for field in ("labels", "annotations") if template_meta.get(field)},
            "ownerReferences": [reference],
        },
        "spec": clone(template["spec"]),
    }
    return store.create("pods", pod)


def delete_pod(store: Store, pod: Object) -> None:
    """Delete a pod; a pod that is deleted already is no error."""
    try:
        store.delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
    except ApiError as error:
        if error.code != 404:  # noqa: PLR2004 - HTTP
            raise
