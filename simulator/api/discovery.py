"""Serves the discovery documents, from which a client learns which resources exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator.kinds import ApiResource, Registry
    from simulator.objects import Object

VERSION: Object = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.0-simulator",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
SUBRESOURCE_KINDS = {
    "binding": ("", "v1", "Binding"),
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
}
SUBRESOURCE_VERBS = {"binding": ["create"], "eviction": ["create"], "log": ["get"]}
CORE_VERSIONS: Object = {
    "kind": "APIVersions",
    "versions": ["v1"],
    "serverAddressByClientCIDRs": [],
}


def group_versions(kinds: Registry) -> dict[str, list[str]]:
    """Return the served versions of every named group, both in the order in which they were added."""
    versions: dict[str, list[str]] = {}
    for kind in kinds:
        if kind.group and kind.version not in versions.setdefault(kind.group, []):
            versions[kind.group].append(kind.version)
    return versions


def group_list(kinds: Registry) -> Object:
    """Return the APIGroupList."""
    groups = [_group(name, versions) for name, versions in group_versions(kinds).items()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(kinds: Registry, name: str) -> Object | None:
    """Return an APIGroup, None if it is not served."""
    versions = group_versions(kinds).get(name)
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)} if versions else None


def _group(name: str, versions: list[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def resource_list(kinds: Registry, group_name: str, version: str) -> Object | None:
    """Return the APIResourceList of a group and version, None if it is not served."""
    members = [kind for kind in kinds if (kind.group, kind.version) == (group_name, version)]
    if not members:
        return None
    resources = [entry for kind in members for entry in (_resource(kind), *_subresources(kind))]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": members[0].api_version,
        "resources": resources,
    }


def _resource(kind: ApiResource) -> Object:
    entry: Object = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(kind.verbs),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    return entry


def _subresources(kind: ApiResource) -> list[Object]:
    entries = []
    for name in kind.subresources:
        entry: Object = {
            "name": f"{kind.plural}/{name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": SUBRESOURCE_VERBS.get(name, ["get", "patch", "update"]),
        }
        if name in SUBRESOURCE_KINDS:
            entry["group"], entry["version"], entry["kind"] = SUBRESOURCE_KINDS[name]
        entries.append(entry)
    return entries
