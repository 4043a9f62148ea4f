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


def spec(kind: ApiResource, pod_spec: Object, path: str) -> Iterator[Cause]:
    """Check the specification of a pod or of a template at ``path``."""
    yield from _containers(kind, pod_spec, path)
    yield from one_of(pod_spec.get("restartPolicy"), _RESTART_POLICIES, f"{path}.restartPolicy")
    yield from labels(pod_spec.get("nodeSelector"), f"{path}.nodeSelector")
    yield from _resources(kind, {"limits": pod_spec.get("overhead")}, f"{path}.overhead")
    yield from _resources(kind, pod_spec.get("resources") or {}, f"{path}.resources")
    yield from _tolerations(pod_spec.get("tolerations") or (), f"{path}.tolerations")
    yield from _affinity(pod_spec.get("affinity") or {}, f"{path}.affinity")
    yield from _spread(pod_spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints")
    integer(pod_spec.get("priority"), f"{path}.priority")
    for index, gate in enumerate(pod_spec.get("schedulingGates") or ()):
        yield from qualified_name(gate.get("name", ""), f"{path}.schedulingGates[{index}]")


def taints(node_taints: Sequence[Mapping[str, Any]] | None) -> Iterator[Cause]:
    """Check the taints of a node."""
    earlier_keys: set[tuple[str, str]] = set()
    for index, taint in enumerate(node_taints or ()):
        path = f"metadata.taints[{index}]"  # the path that the API server reports
        yield from qualified_name(taint.get("key", ""), f"{path}.key")
        yield from label_value(taint.get("value") or "", f"{path}.value")
        yield from one_of(taint.get("effect"), EFFECTS, f"{path}.effect")
        place = (taint.get("key", ""), taint.get("effect", ""))
        if place in earlier_keys:
            yield duplicate(path, str(taint), "taints must be unique by key and effect pair")
        earlier_keys.add(place)


def _containers(kind: ApiResource, pod_spec: Object, path: str) -> Iterator[Cause]:
    if not pod_spec.get("containers"):
        yield required(f"{path}.containers")
    names: set[str] = set()
    for part in ("initContainers", "containers"):
        for index, container in enumerate(pod_spec.get(part) or ()):
            place = f"{path}.{part}[{index}]"
            for field in ("name", "image"):
                if not container.get(field):
                    yield required(f"{place}.{field}")
            if container.get("name") in names:
                yield duplicate(f"{place}.name", container["name"])
            names |= {container["name"]} if container.get("name") else set()
            yield from _resources(kind, container.get("resources") or {}, f"{place}.resources")
            for number, port in enumerate(container.get("ports") or ()):
                yield from _port(port, f"{place}.ports[{number}]")


def _port(port: Mapping[str, Any], path: str) -> Iterator[Cause]:
    for field in ("containerPort", "hostPort"):
        number = integer(port.get(field), f"{path}.{field}") or 0
        if field == "containerPort" and not number:
            yield required(f"{path}.{field}")
        elif number and not 0 < number <= _HIGHEST_PORT:
            yield wrong(f"{path}.{field}", number, f"must be between 1 and {_HIGHEST_PORT}, inclusive")
    yield from one_of(port.get("protocol"), ("SCTP", "TCP", "UDP"), f"{path}.protocol")


def _resources(kind: ApiResource, resources: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """Check requests and limits: known names, valid amounts, no request above its limit."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
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
    requested, limit_value = quantity(kind, text), quantity(kind, limit)
    if requested != limit_value and not allows_overcommit(name):
        yield wrong(f"{path}.requests", str(text), f"must be equal to {name} limit of {limit}")
    elif requested > limit_value:
        yield wrong(f"{path}.requests", str(text), f"must be less than or equal to {name} limit of {limit}")


def _tolerations(pod_tolerations: Sequence[Mapping[str, Any]], path: str) -> Iterator[Cause]:
    for index, toleration in enumerate(pod_tolerations):
        place, key, operator = f"{path}[{index}]", toleration.get("key") or "", toleration.get("operator") or ""
        if key:
            yield from qualified_name(key, f"{place}.key")
        elif operator != "Exists":
            rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield wrong(f"{place}.operator", operator, rule)
        if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
            rule = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield wrong(f"{place}.effect", toleration.get("effect") or "", rule)
        if operator == "Exists" and toleration.get("value"):
            yield wrong(f"{place}.operator", toleration["value"], "value must be empty when `operator` is 'Exists'")
        elif operator in ("", "Equal"):
            yield from label_value(toleration.get("value") or "", f"{place}.operator")
        else:
            yield from one_of(operator, ("Equal", "Exists"), f"{place}.operator")
        if toleration.get("effect"):
            yield from one_of(toleration["effect"], EFFECTS, f"{place}.effect")


def _affinity(rules_by_kind: Mapping[str, Any], path: str) -> Iterator[Cause]:
    node_rule = (rules_by_kind.get("nodeAffinity") or {}).get(_REQUIRED)
    if node_rule is not None:
        yield from _node_terms(node_rule.get("nodeSelectorTerms") or (), f"{path}.nodeAffinity.{_REQUIRED}")
    for name in ("podAffinity", "podAntiAffinity"):
        rules = rules_by_kind.get(name) or {}
        for index, term in enumerate(rules.get(_REQUIRED) or ()):
            yield from _pod_term(term, f"{path}.{name}.{_REQUIRED}[{index}]")
        for index, preference in enumerate(rules.get(_PREFERRED) or ()):
            yield from _pod_term(
                preference.get("podAffinityTerm") or {}, f"{path}.{name}.{_PREFERRED}[{index}].podAffinityTerm"
            )


def _node_terms(terms: Sequence[Mapping[str, Any]], path: str) -> Iterator[Cause]:
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        for number, expression in enumerate(term.get("matchExpressions") or ()):
            place = f"{path}.nodeSelectorTerms[{index}].matchExpressions[{number}]"
            yield from requirement(expression, place, numbers=True)


def _pod_term(term: Mapping[str, Any], path: str) -> Iterator[Cause]:
    for field in ("labelSelector", "namespaceSelector"):
        yield from selector(term.get(field), f"{path}.{field}")
    if not term.get("topologyKey"):
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from qualified_name(term.get("topologyKey") or "", f"{path}.topologyKey")


def _spread(constraints: Sequence[Mapping[str, Any]], path: str) -> Iterator[Cause]:
    for index, constraint in enumerate(constraints):
        place = f"{path}[{index}]"
        skew = integer(constraint.get("maxSkew"), f"{place}.maxSkew") or 0
        if skew <= 0:
            yield wrong(f"{place}.maxSkew", skew, "must be greater than zero")
        if not constraint.get("topologyKey"):
            yield required(f"{place}.topologyKey", "can not be empty")
        else:
            yield from qualified_name(constraint["topologyKey"], f"{place}.topologyKey")
        known = ("DoNotSchedule", "ScheduleAnyway")
        yield from one_of(constraint.get("whenUnsatisfiable"), known, f"{place}.whenUnsatisfiable")
        yield from selector(constraint.get("labelSelector"), f"{place}.labelSelector")
