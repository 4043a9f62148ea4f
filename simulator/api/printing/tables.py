"""Formats tables as `kubectl get` prints them: the columns of each kind and the cells of an object."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simulator.api.printing.columns import look_up
from simulator.api.printing.pod_rows import pod_cells
from simulator.selectors import field_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.kinds import ApiResource
    from simulator.objects import Object

    Cells = Callable[[Object, datetime], list[Any]]

Column = dict[str, Any]
Unit = tuple[int, str]

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400
# A duration below the given number of seconds is written in these units.
SHORTENED: tuple[tuple[int, Unit, Unit | None], ...] = (
    (2 * MINUTE, (1, "s"), None),
    (10 * MINUTE, (MINUTE, "m"), (1, "s")),
    (3 * HOUR, (MINUTE, "m"), None),
    (8 * HOUR, (HOUR, "h"), (MINUTE, "m")),
    (2 * DAY, (HOUR, "h"), None),
    (8 * DAY, (DAY, "d"), (HOUR, "h")),
    (2 * YEAR, (DAY, "d"), None),
)


def columns(kind: ApiResource) -> tuple[list[Column], Cells]:
    """Return the column definitions of a kind and the function from an object and the time to its cells."""
    if kind.columns:
        names = (f"{'+' if column.priority else ''}{column.name}" for column in kind.columns)
        return _headers("Name", *names), lambda obj, now: _custom(kind, obj, now)
    table = _TABLES.get(kind.storage)
    if table is None:
        return _headers("Name", "Age"), lambda obj, now: [name(obj), age(obj, now)]
    titles, cells = table
    return _headers(*titles), cells


def _custom(kind: ApiResource, obj: Object, now: datetime) -> list[Any]:
    values = ((column.type, look_up(obj, column.path)) for column in kind.columns)
    return [name(obj), *(since(value, now) if type_ == "date" else value for type_, value in values)]


def _headers(*titles: str) -> list[Column]:
    """Return column definitions; a title that starts with + is for wide output only."""
    return [
        {
            "name": title.lstrip("+"),
            "type": "string",
            "format": "name" if title == "Name" else "",
            "description": title.lstrip("+"),
            "priority": int(title.startswith("+")),
        }
        for title in titles
    ]


def name(obj: Object) -> str:
    """Return an object's name."""
    return str(obj["metadata"]["name"])


def age(obj: Object, now: datetime) -> str:
    """Return how long ago an object was created."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def since(moment: str | None, now: datetime) -> str:
    """Return the time since a timestamp in kubectl's short form."""
    return human((now - parse_time(moment)).total_seconds()) if moment else "<unknown>"


def parse_time(moment: str) -> datetime:
    """Return the time of a timestamp as a datetime."""
    return datetime.fromisoformat(moment).astimezone(UTC)


def human(seconds: float) -> str:
    """Return a duration the way kubectl shortens it: 45s, 3m20s, 5h, 2d4h, 40d."""
    whole = max(int(seconds), 0)
    for limit, large, small in SHORTENED:
        if whole < limit:
            return _units(whole, large, small)
    return _units(whole, (YEAR, "y"), (DAY, "d"))


def _units(whole: int, large: Unit, small: Unit | None) -> str:
    remainder = whole % large[0] // small[0] if small else 0
    return f"{whole // large[0]}{large[1]}" + (f"{remainder}{small[1]}" if small and remainder else "")


def _selector(selector: Object | None) -> str:
    if not selector:
        return "<none>"
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for item in selector.get("matchExpressions") or ():
        words = {"In": "in", "NotIn": "notin", "Exists": "", "DoesNotExist": "!"}[item["operator"]]
        values = f" {words} ({','.join(item['values'])})" if item.get("values") else ""
        parts.append(f"{'!' if words == '!' else ''}{item['key']}{values}")
    return ",".join(parts) or "<none>"


def _containers(template: Object) -> tuple[str, str]:
    items = (template.get("spec") or {}).get("containers") or []
    return ",".join(item["name"] for item in items), ",".join(item.get("image", "") for item in items)


def _text(obj: Object, path: str, default: str = "") -> str:
    return field_text(obj, path.split(".")) or default


def _number(obj: Object, path: str) -> int:
    return int(_text(obj, path, "0"))


def _node(obj: Object, now: datetime) -> list[Any]:
    status, labels = obj.get("status") or {}, obj["metadata"].get("labels") or {}
    ready = next((item for item in status.get("conditions") or () if item["type"] == "Ready"), None)
    state = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    if (obj.get("spec") or {}).get("unschedulable"):
        state += ",SchedulingDisabled"
    prefix = "node-role.kubernetes.io/"
    roles = ",".join(sorted(key.removeprefix(prefix) for key in labels if key.startswith(prefix)))
    addresses = {item["type"]: item["address"] for item in status.get("addresses") or ()}
    info = status.get("nodeInfo") or {}
    return [
        name(obj),
        state,
        roles or "<none>",
        age(obj, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _event(obj: Object, now: datetime) -> list[Any]:
    about = obj.get("involvedObject") or {}
    series = obj.get("series") or {}
    first = obj.get("firstTimestamp") or obj.get("eventTime") or obj["metadata"].get("creationTimestamp")
    last = series.get("lastObservedTime") or obj.get("lastTimestamp") or first
    source = obj.get("source") or {}
    return [
        since(last, now),
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{about.get('kind', '').lower()}/{about.get('name', '')}",
        about.get("fieldPath", ""),
        ", ".join(filter(None, (source.get("component") or obj.get("reportingComponent"), source.get("host")))),
        obj.get("message", "").strip(),
        since(first, now),
        series.get("count") or obj.get("count") or 1,
        name(obj),
    ]


def _job(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj["spec"], obj.get("status") or {}
    required = spec.get("completions")
    goal = str(required) if required is not None else f"1 of {spec['parallelism']}" if spec["parallelism"] > 1 else "1"
    done = {item["type"] for item in status.get("conditions") or () if item["status"] == "True"}
    states = (
        ("Complete", "Complete"),
        ("Failed", "Failed"),
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
    )
    state = next((title for type_, title in states if type_ in done), "Running")
    if "deletionTimestamp" in obj["metadata"] and state == "Running":
        state = "Terminating"
    start = status.get("startTime")
    end = parse_time(status["completionTime"]) if status.get("completionTime") else now
    duration = human((end - parse_time(start)).total_seconds()) if start else ""
    completions = f"{status.get('succeeded', 0)}/{goal}"
    return [name(obj), state, completions, duration, age(obj, now), *_containers(spec["template"]),
            _selector(spec.get("selector"))]  # fmt: skip


def _replica_set(obj: Object, now: datetime) -> list[Any]:
    numbers = [_number(obj, path) for path in ("spec.replicas", "status.replicas", "status.readyReplicas")]
    spec = obj["spec"]
    return [name(obj), *numbers, age(obj, now), *_containers(spec["template"]), _selector(spec.get("selector"))]


def _budget(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    least, most = (str(spec.get(field, "N/A")) for field in ("minAvailable", "maxUnavailable"))
    return [name(obj), least, most, _number(obj, "status.disruptionsAllowed"), age(obj, now)]


def _priority_class(obj: Object, now: datetime) -> list[Any]:
    default = "true" if obj.get("globalDefault") else "false"
    return [name(obj), obj.get("value", 0), default, age(obj, now), obj.get("preemptionPolicy", "")]


def _namespace(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), _text(obj, "status.phase"), age(obj, now)]


def _lease(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), _text(obj, "spec.holderIdentity"), age(obj, now)]


def _quota(obj: Object, now: datetime) -> list[Any]:
    status = obj.get("status") or {}
    used, hard = status.get("used") or {}, status.get("hard") or (obj.get("spec") or {}).get("hard") or {}
    amounts = {item: f"{item}: {used.get(item, '0')}/{hard[item]}" for item in sorted(hard)}
    limits = ", ".join(text for item, text in amounts.items() if item.startswith("limits."))
    requests = ", ".join(text for item, text in amounts.items() if not item.startswith("limits."))
    return [name(obj), requests, limits, age(obj, now)]


def _service_account(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), len(obj.get("secrets") or ()), age(obj, now)]


def _config_map(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), len(obj.get("data") or {}) + len(obj.get("binaryData") or {}), age(obj, now)]


def _secret(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), obj.get("type", ""), len(obj.get("data") or {}), age(obj, now)]


def _definition(obj: Object, now: datetime) -> list[Any]:
    del now
    return [name(obj), obj["metadata"].get("creationTimestamp", "")]


def _pod(obj: Object, now: datetime) -> list[Any]:
    return pod_cells(obj, age(obj, now))


_WORKLOAD = ("+Containers", "+Images", "+Selector")
_TABLES: dict[str, tuple[tuple[str, ...], Cells]] = {
    "pods": (
        ("Name", "Ready", "Status", "Restarts", "Age", "+IP", "+Node", "+Nominated Node", "+Readiness Gates"),
        _pod,
    ),
    "nodes": (
        ("Name", "Status", "Roles", "Age", "Version", "+Internal-IP", "+External-IP", "+OS-Image",
         "+Kernel-Version", "+Container-Runtime"),
        _node,
    ),
    "events": (
        ("Last Seen", "Type", "Reason", "Object", "+Subobject", "+Source", "Message", "+First Seen", "+Count", "+Name"),
        _event,
    ),
    "jobs.batch": (("Name", "Status", "Completions", "Duration", "Age", *_WORKLOAD), _job),
    "replicasets.apps": (("Name", "Desired", "Current", "Ready", "Age", *_WORKLOAD), _replica_set),
    "poddisruptionbudgets.policy": (
        ("Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"),
        _budget,
    ),
    "priorityclasses.scheduling.k8s.io": (
        ("Name", "Value", "Global-Default", "Age", "PreemptionPolicy"),
        _priority_class,
    ),
    "namespaces": (("Name", "Status", "Age"), _namespace),
    "leases.coordination.k8s.io": (("Name", "Holder", "Age"), _lease),
    "resourcequotas": (("Name", "Request", "Limit", "Age"), _quota),
    "serviceaccounts": (("Name", "Secrets", "Age"), _service_account),
    "configmaps": (("Name", "Data", "Age"), _config_map),
    "secrets": (("Name", "Type", "Data", "Age"), _secret),
    "customresourcedefinitions.apiextensions.k8s.io": (("Name", "Created At"), _definition),
}  # fmt: skip
