"""ResourceQuota: what the pods of a namespace may ask for together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.resources import Amounts, add, format_amount, parse_amount, total
from engine.simulator.status import forbidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.simulator.kinds import Kind
    from engine.simulator.objects import Object
    from engine.simulator.store import Store

FINISHED = ("Succeeded", "Failed")
COUNTS = ("pods", "count/pods")


def charge(store: Store, kind: Kind, pod: Object) -> None:
    """Raise ApiError 403 when a new pod would break a quota of its namespace."""
    namespace = pod["metadata"]["namespace"]
    quotas = store.list("resourcequotas", namespace)
    alive = store.list("pods", namespace) if quotas else []
    for quota in quotas:
        why = _refusal(pod, used(alive, limited(quota)), limited(quota))
        if why:
            title = quota["metadata"]["name"]
            raise forbidden(kind, pod["metadata"]["name"], why.format(title=title))


def limited(quota: Mapping[str, Any]) -> Amounts:
    """Return the amounts that a quota sets for pods; what it says about other objects is left out."""
    hard: Mapping[str, Any] = (quota.get("spec") or {}).get("hard") or {}
    return {
        name: parse_amount(_resource(name), amount)
        for name, amount in hard.items()
        if name in COUNTS or (_part(name) != "" and not name.startswith("count/"))
    }


def used(pods: Iterable[Mapping[str, Any]], hard: Amounts) -> Amounts:
    """Return what the pods that are not finished use together of the resources that a quota limits."""
    alive = (usage(pod, hard) for pod in pods if pod["status"].get("phase") not in FINISHED)
    return {**dict.fromkeys(hard, 0), **total(alive)}


def usage(pod: Mapping[str, Any], hard: Amounts) -> Amounts:
    """Return what one pod uses of the limited resources; those it does not specify are left out."""
    found: Amounts = {}
    for name in hard:
        if name in COUNTS:
            found[name] = 1
            continue
        resource = _resource(name)
        for container in pod["spec"]["containers"]:
            amounts = (container.get("resources") or {}).get(_part(name)) or {}
            if resource in amounts:
                found[name] = found.get(name, 0) + parse_amount(resource, amounts[resource])
    return found


def texts(amounts: Amounts) -> dict[str, str]:
    """Return amounts as quantities, as a quota's status shows them."""
    return {name: format_amount(_resource(name), amount) for name, amount in amounts.items()}


def _refusal(pod: Object, before: Amounts, hard: Amounts) -> str | None:
    wanted = usage(pod, hard)
    missing = sorted(name for name in hard if name not in wanted)
    if missing:
        container = pod["spec"]["containers"][0]["name"]
        return "failed quota: {title}: must specify " + ",".join(f"{name} for: {container}" for name in missing)
    after = add(before, wanted)
    over = sorted(name for name in wanted if after[name] > hard[name])
    if not over:
        return None
    asked, spent, most = (
        ",".join(f"{name}={format_amount(_resource(name), amounts[name])}" for name in over)
        for amounts in (wanted, before, hard)
    )
    return f"exceeded quota: {{title}}, requested: {asked}, used: {spent}, limited: {most}"


def _part(name: str) -> str:
    """Return which amounts of a container a quota's resource means; one without a prefix means requests."""
    prefix = name.split(".", 1)[0]
    if prefix in ("requests", "limits"):
        return prefix
    return "requests" if name in ("cpu", "memory", "ephemeral-storage") else ""


def _resource(name: str) -> str:
    return name.split(".", 1)[1] if name.startswith(("requests.", "limits.")) else name
