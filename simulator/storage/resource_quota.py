"""Enforces ResourceQuotas: the total amounts that the pods of a namespace may request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from engine.model.quantities import Amounts, add, format_amount, parse_amount, total
from simulator.status import forbidden
from simulator.storage.quota_scopes import covers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.storage.versioned_objects import Event, VersionedObjects

FINISHED = ("Succeeded", "Failed")
COUNTS = ("pods", "count/pods")


def charge(store: VersionedObjects, kind: ApiResource, pod: Object) -> None:
    """Raise ApiError 403 when a new pod would break a quota of its namespace."""
    namespace = pod["metadata"]["namespace"]
    quotas = store.list("resourcequotas", namespace)
    alive = store.list("pods", namespace) if quotas else []
    for quota in (candidate for candidate in quotas if covers(candidate, pod)):
        hard = limited(quota)
        why = _refusal(pod, used(_covered(quota, alive), hard), hard)
        if why:
            title = quota["metadata"]["name"]
            raise forbidden(kind, pod["metadata"]["name"], why.format(title=title))


def keep_status(store: VersionedObjects) -> None:
    """Keep the status of every quota up to date from now on."""

    def recount(event: Event) -> None:
        if _matters(event):
            namespace = event.object["metadata"]["namespace"]
            for quota in store.list("resourcequotas", namespace):
                hard = limited(quota)
                spent = texts(used(_covered(quota, store.list("pods", namespace)), hard))
                status = {"hard": (quota.get("spec") or {}).get("hard") or {}, "used": spent}
                name = quota["metadata"]["name"]
                store.mutate("resourcequotas", namespace, name, partial(_set_status, status), "status")

    store.subscribe(recount)


def _set_status(status: Object, quota: Object) -> None:
    quota["status"] = status


def _matters(event: Event) -> bool:
    """Return whether an event may change a quota's usage: pods are created, deleted or finish."""
    if event.key == "resourcequotas":
        return event.type != "DELETED"
    if event.key != "pods":
        return False
    before = ((event.old or {}).get("status") or {}).get("phase") in FINISHED
    return event.type != "MODIFIED" or before != (event.object["status"].get("phase") in FINISHED)


def _covered(quota: Mapping[str, Any], pods: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [pod for pod in pods if covers(quota, pod)]


def limited(quota: Mapping[str, Any]) -> Amounts:
    """Return the amounts that a quota sets for pods, without those for other objects."""
    hard: Mapping[str, Any] = (quota.get("spec") or {}).get("hard") or {}
    return {
        name: parse_amount(_resource(name), amount)
        for name, amount in hard.items()
        if name in COUNTS or (_part(name) != "" and not name.startswith("count/"))
    }


def used(pods: Iterable[Mapping[str, Any]], hard: Amounts) -> Amounts:
    """Return the total usage of the limited resources by unfinished pods."""
    alive = (usage(pod, hard) for pod in pods if pod["status"].get("phase") not in FINISHED)
    return {**dict.fromkeys(hard, 0), **total(alive)}


def usage(pod: Mapping[str, Any], hard: Amounts) -> Amounts:
    """Return what a pod uses of the limited resources; resources that it does not specify are left out."""
    total_usage: Amounts = {}
    for name in hard:
        if name in COUNTS:
            total_usage[name] = 1
            continue
        resource = _resource(name)
        for container in pod["spec"]["containers"]:
            amounts = (container.get("resources") or {}).get(_part(name)) or {}
            if resource in amounts:
                total_usage[name] = total_usage.get(name, 0) + parse_amount(resource, amounts[resource])
    return total_usage


def texts(amounts: Amounts) -> dict[str, str]:
    """Return amounts as quantities, as a quota's status shows them."""
    return {name: format_amount(_resource(name), amount) for name, amount in amounts.items()}


def _refusal(pod: Object, before: Amounts, hard: Amounts) -> str | None:
    requested = usage(pod, hard)
    missing = sorted(name for name in hard if name not in requested)
    if missing:
        container = pod["spec"]["containers"][0]["name"]
        return "failed quota: {title}: must specify " + ",".join(f"{name} for: {container}" for name in missing)
    after = add(before, requested)
    over = sorted(name for name in requested if after[name] > hard[name])
    if not over:
        return None
    requested_text, spent, most = (
        ",".join(f"{name}={format_amount(_resource(name), amounts[name])}" for name in over)
        for amounts in (requested, before, hard)
    )
    return f"exceeded quota: {{title}}, requested: {requested_text}, used: {spent}, limited: {most}"


def _part(name: str) -> str:
    """Return which amounts of a container a quota's resource refers to; without a prefix, requests."""
    prefix = name.split(".", 1)[0]
    if prefix in ("requests", "limits"):
        return prefix
    return "requests" if name in ("cpu", "memory", "ephemeral-storage") else ""


def _resource(name: str) -> str:
    return name.split(".", 1)[1] if name.startswith(("requests.", "limits.")) else name
