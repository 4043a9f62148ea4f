"""Serves the part of OpenAPI that kubectl reads before it writes: the patches and field validation of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.api import calls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.kinds import ApiResource, Registry
    from simulator.objects import Object

INFO = {"title": "Kubernetes", "version": "v1.36.0-simulator"}
PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]
# An empty protobuf document: kubectl reads version 2 in no other encoding, and has its own schemas to fall back on.
EMPTY_V2_PROTOBUF = b""
V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def version_2() -> Object:
    """Return the OpenAPI version 2 document."""
    return {"swagger": "2.0", "info": INFO, "paths": {}, "definitions": {}}


def index(kinds: Registry) -> Object:
    """Return the index of the version 3 documents."""
    roots = dict.fromkeys(_root(kind) for kind in kinds)
    return {"paths": {root: {"serverRelativeURL": f"/openapi/v3/{root}"} for root in roots}}


def version_3(kinds: Registry, root: str) -> Object | None:
    """Return the version 3 document of a group and version such as `apis/apps/v1`, None if it is not served."""
    members = [kind for kind in kinds if _root(kind) == root]
    if not members:
        return None
    return {"openapi": "3.0.0", "info": INFO, "paths": dict(_paths(members)), "components": {"schemas": {}}}


def _root(kind: ApiResource) -> str:
    return f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}"


def _paths(kinds: Iterable[ApiResource]) -> Iterable[tuple[str, Object]]:
    for kind in kinds:
        space = "/namespaces/{namespace}" if kind.namespaced else ""
        collection = f"/{_root(kind)}{space}/{kind.plural}"
        about = {"group": kind.group, "kind": kind.kind, "version": kind.version}
        responses = {"200": {"description": "OK"}}
        operation = {"parameters": PARAMETERS, "x-kubernetes-group-version-kind": about, "responses": responses}
        yield collection, {"post": {**operation, "x-kubernetes-action": "post"}}
        if "patch" in kind.verbs:
            patches = [calls.APPLY_PATCH, calls.JSON_PATCH, calls.MERGE_PATCH]
            content: Object = {"content": {media: {"schema": {"type": "object"}} for media in patches}}
            patch = {**operation, "x-kubernetes-action": "patch", "requestBody": content}
            yield f"{collection}/{{name}}", {"patch": patch}
