"""Validates the specification of pods and pod templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.storage.validation.fields import (
    HUGE_PAGES,
    allows_overcommit,
    duplicate,
    forbidden,
    integer,
    label_value,
    labels,
    one_of,
    qualified_name,
    quantities,
    quantity,
    required,
    requirement,
    resource_name,
    selector,
    wrong,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.status import Cause

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_HIGHEST_PORT = 65_535
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def spec(kind: ApiResource, found: Object, path: str) -> Iterator[Cause]:
    """Check the specification of a pod or of a template at ``path``."""
    yield from _containers(kind, found, path)
    yield from one_of(found.get("restartPolicy"), _RESTART_POLICIES, f"{path}.restartPolicy")
    yield from labels(found.get("nodeSelector"), f"{path}.nodeSelector")
    yield from _resources(kind, {"limits": found.get("overhead")}, f"{path}.overhead")
    yield from _resources(kind, found.get("resources") or {}, f"{path}.resources")
    yield from _tolerations(found.get("tolerations") or (), f"{path}.tolerations")
    yield from _affinity(found.get("affinity") or {}, f"{path}.affinity")
    yield from _spread(found.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints")
    integer(found.get("priority"), f"{path}.priority")
    for index, gate in enumerate(found.get("schedulingGates") or ()):
        yield from qualified_name(gate.get("name", ""), f"{path}.schedulingGates[{index}]")


def taints(found: Sequence[Mapping[str, Any]] | None) -> Iterator[Cause]:
    """Check the taints of a node."""
    seen: set[tuple[str, str]] = set()
    for index, one in enumerate(found or ()):
        path = f"metadata.taints[{index}]"  # the path that the API server reports
        yield from qualified_name(one.get("key", ""), f"{path}.key")
        yield from label_value(one.get("value") or "", f"{path}.value")
        yield from one_of(one.get("effect"), EFFECTS, f"{path}.effect")
        place = (one.get("key", ""), one.get("effect", ""))
        if place in seen:
            yield duplicate(path, str(one), "taints must be unique by key and effect pair")
        seen.add(place)


def _containers(kind: ApiResource, found: Object, path: str) -> Iterator[Cause]:
    if not found.get("containers"):
        yield required(f"{path}.containers")
    names: set[str] = set()
    for part in ("initContainers", "containers"):
        for index, one in enumerate(found.get(part) or ()):
            place = f"{path}.{part}[{index}]"
            for field in ("name", "image"):
                if not one.get(field):
                    yield required(f"{place}.{field}")
            if one.get("name") in names:
                yield duplicate(f"{place}.name", one["name"])
            names |= {one["name"]} if one.get("name") else set()
            yield from _resources(kind, one.get("resources") or {}, f"{place}.resources")
            for number, port in enumerate(one.get("ports") or ()):
                yield from _port(port, f"{place}.ports[{number}]")


def _port(port: Mapping[str, Any], path: str) -> Iterator[Cause]:
    for field in ("containerPort", "hostPort"):
        number = integer(port.get(field), f"{path}.{field}") or 0
        if field == "containerPort" and not number:
            yield required(f"{path}.{field}")
        elif number and not 0 < number <= _HIGHEST_PORT:
            yield wrong(f"{path}.{field}", number, f"must be between 1 and {_HIGHEST_PORT}, inclusive")
    yield from one_of(port.get("protocol"), ("SCTP", "TCP", "UDP"), f"{path}.protocol")


def _resources(kind: ApiResource, found: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """Check requests and limits: known names, valid amounts, no request above its limit."""
    limits, requests = found.get("limits") or {}, found.get("requests") or {}
    for part, amounts in (("limits", limits), ("requests", requests)):
        for name in amounts:
            yield from resource_name(name, f"{path}.{part}[{name}]")
        yield from quantities(kind, amounts, f"{path}.{part}")
    for name, text in requests.items():
        yield from _request(kind, name, text, limits.get(name), path)
    names = {*limits, *requests}
    if any(name.startswith(HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")


def _request(kind: ApiResource, name: str, text: Any, limit: Any, path: str) -> Iterator[Cause]:
    if limit is None:
        if not allows_overcommit(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        return
    wanted, most = quantity(kind, text), quantity(kind, limit)
    if wanted != most and not allows_overcommit(name):
        yield wrong(f"{path}.requests", str(text), f"must be equal to {name} limit of {limit}")
    elif wanted > most:
        yield wrong(f"{path}.requests", str(text), f"must be less than or equal to {name} limit of {limit}")


def _tolerations(found: Sequence[Mapping[str, Any]], path: str) -> Iterator[Cause]:
    for index, one in enumerate(found):
        place, key, operator = f"{path}[{index}]", one.get("key") or "", one.get("operator") or ""
        if key:
            yield from qualified_name(key, f"{place}.key")
        elif operator != "Exists":
            rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield wrong(f"{place}.operator", operator, rule)
        if one.get("tolerationSeconds") is not None and one.get("effect") != "NoExecute":
            rule = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield wrong(f"{place}.effect", one.get("effect") or "", rule)
        if operator == "Exists" and one.get("value"):
            yield wrong(f"{place}.operator", one["value"], "value must be empty when `operator` is 'Exists'")
        elif operator in ("", "Equal"):
            yield from label_value(one.get("value") or "", f"{place}.operator")
        else:
            yield from one_of(operator, ("Equal", "Exists"), f"{place}.operator")
        if one.get("effect"):
            yield from one_of(one["effect"], EFFECTS, f"{place}.effect")


def _affinity(found: Mapping[str, Any], path: str) -> Iterator[Cause]:
    wanted = (found.get("nodeAffinity") or {}).get(_REQUIRED)
    if wanted is not None:
        yield from _node_terms(wanted.get("nodeSelectorTerms") or (), f"{path}.nodeAffinity.{_REQUIRED}")
    for name in ("podAffinity", "podAntiAffinity"):
        rules = found.get(name) or {}
        for index, term in enumerate(rules.get(_REQUIRED) or ()):
            yield from _pod_term(term, f"{path}.{name}.{_REQUIRED}[{index}]")
        for index, one in enumerate(rules.get(_PREFERRED) or ()):
            yield from _pod_term(
                one.get("podAffinityTerm") or {}, f"{path}.{name}.{_PREFERRED}[{index}].podAffinityTerm"
            )


def _node_terms(terms: Sequence[Mapping[str, Any]], path: str) -> Iterator[Cause]:
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        for number, one in enumerate(term.get("matchExpressions") or ()):
            place = f"{path}.nodeSelectorTerms[{index}].matchExpressions[{number}]"
            yield from requirement(one, place, numbers=True)


def _pod_term(term: Mapping[str, Any], path: str) -> Iterator[Cause]:
    for field in ("labelSelector", "namespaceSelector"):
        yield from selector(term.get(field), f"{path}.{field}")
    if not term.get("topologyKey"):
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from qualified_name(term.get("topologyKey") or "", f"{path}.topologyKey")


def _spread(found: Sequence[Mapping[str, Any]], path: str) -> Iterator[Cause]:
    for index, one in enumerate(found):
        place = f"{path}[{index}]"
        skew = integer(one.get("maxSkew"), f"{place}.maxSkew") or 0
        if skew <= 0:
            yield wrong(f"{place}.maxSkew", skew, "must be greater than zero")
        if not one.get("topologyKey"):
            yield required(f"{place}.topologyKey", "can not be empty")
        else:
            yield from qualified_name(one["topologyKey"], f"{place}.topologyKey")
        known = ("DoNotSchedule", "ScheduleAnyway")
        yield from one_of(one.get("whenUnsatisfiable"), known, f"{place}.whenUnsatisfiable")
        yield from selector(one.get("labelSelector"), f"{place}.labelSelector")
