"""Applies strategic merge patches: lists that merge by key, and the directives that control it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.objects import Object, clone

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.kinds import ApiResource

Path = tuple[str, ...]

# Keyed by the name of the list's field, and where that is ambiguous, preceded by the field that holds it.
MERGE_KEYS: dict[Path, str] = {
    ("containers",): "name",
    ("initContainers",): "name",
    ("ephemeralContainers",): "name",
    ("containers", "ports"): "containerPort",
    ("initContainers", "ports"): "containerPort",
    ("env",): "name",
    ("volumes",): "name",
    ("volumeMounts",): "mountPath",
    ("volumeDevices",): "devicePath",
    ("imagePullSecrets",): "name",
    ("hostAliases",): "ip",
    ("topologySpreadConstraints",): "topologyKey",
    ("schedulingGates",): "name",
    ("resourceClaims",): "name",
    ("conditions",): "type",
    ("ownerReferences",): "uid",
    ("addresses",): "type",
    ("podIPs",): "ip",
    ("hostIPs",): "ip",
    ("secrets",): "name",
}
MERGED_SETS = ("finalizers", "podCIDRs")
DIRECTIVES = ("$patch", "$retainKeys")


def strategic_merge(obj: Object, patch: Object, kind: ApiResource) -> Object:
    """Return an object of a kind with a strategic merge patch applied; custom kinds have no keyed lists."""
    keys: dict[Path, str] = {("ownerReferences",): "uid"} if kind.custom else MERGE_KEYS
    return _merge(obj, patch, (), keys)


def _merge(target: Object, patch: Object, path: Path, keys: dict[Path, str]) -> Object:
    if patch.get("$patch") == "replace":
        return _plain({key: value for key, value in patch.items() if key != "$patch"})  # type: ignore[no-any-return]
    if patch.get("$patch") == "delete":
        return {}
    merged = dict(target)
    if "$retainKeys" in patch:
        merged = {key: value for key, value in merged.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            merged[field] = [item for item in merged.get(field) or [] if item not in value]
        elif key in DIRECTIVES or key.startswith("$setElementOrder/"):
            continue
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = _value(merged.get(key), value, (*path, key), keys)
    return _ordered(merged, patch, path, keys)


def _value(current: Any, value: Any, path: Path, keys: dict[Path, str]) -> Any:
    if isinstance(value, dict):
        return _merge(current if isinstance(current, dict) else {}, value, path, keys)
    if not isinstance(value, list):
        return value
    known = current if isinstance(current, list) else []
    if path[-1] in MERGED_SETS:
        return _interleaved([item for item in known if item not in value], value, known)
    key = _merge_key(path, keys)
    if key and all(isinstance(item, dict) for item in value):
        return _merge_list(known, value, key, path, keys)
    return _plain(value)


def _merge_key(path: Path, keys: dict[Path, str]) -> str | None:
    return keys.get(path[-2:]) or keys.get(path[-1:])


def _merge_list(current: list[Any], patch: list[Object], key: str, path: Path, keys: dict[Path, str]) -> list[Any]:
    if any(item.get("$patch") == "replace" for item in patch):
        return [_plain(item) for item in patch if "$patch" not in item]
    merged = list(current)
    for item in patch:
        at = next((index for index, entry in enumerate(merged) if entry.get(key) == item.get(key)), None)
        if item.get("$patch") == "delete":
            merged = [entry for entry in merged if entry.get(key) != item.get(key)]
        elif at is None:
            merged.append(_merge({}, item, path, keys))
        else:
            merged[at] = _merge(merged[at], item, path, keys)
    patched, known = [item.get(key) for item in patch], [item.get(key) for item in current]
    unpatched = [item for item in merged if item.get(key) not in patched]
    changed = [item for name in dict.fromkeys(patched) for item in merged if item.get(key) == name]
    return _interleaved(unpatched, changed, known, lambda item: item.get(key))


def _interleaved(
    unpatched: list[Any], changed: list[Any], known: list[Any], name: Callable[[Any], Any] = lambda item: item
) -> list[Any]:
    """Return kept and changed entries: changed ones first, except after kept entries that preceded them already."""
    result: list[Any] = []
    old_entries, new_entries = list(unpatched), list(changed)
    while old_entries and new_entries:
        preceded = name(new_entries[0]) in known and known.index(name(old_entries[0])) < known.index(
            name(new_entries[0])
        )
        result.append(old_entries.pop(0) if preceded else new_entries.pop(0))
    return [*result, *old_entries, *new_entries]


def _ordered(merged: Object, patch: Object, path: Path, keys: dict[Path, str]) -> Object:
    """Order keyed lists as $setElementOrder says; entries that it does not name keep their place at the end."""
    for directive, order in patch.items():
        if not directive.startswith("$setElementOrder/"):
            continue
        field = directive.partition("/")[2]
        key = _merge_key((*path, field), keys)
        if key is None or not isinstance(merged.get(field), list):
            continue
        rank = {item[key]: index for index, item in enumerate(order) if isinstance(item, dict) and key in item}
        merged[field] = sorted(merged[field], key=lambda item: rank.get(item.get(key), len(rank)))
    return merged


def _plain(value: Any) -> Any:
    """Return a copy without directives and nulls, for a patch that has nothing to merge with."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if not key.startswith("$") and item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return clone(value)
