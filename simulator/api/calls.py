"""Parses requests as the API understands them: which verb on which resource, with which body and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from simulator.api import protobuf
from simulator.status import (
    NoPageError,
    UndecodableError,
    bad_request,
    cause,
    invalid,
    method_not_allowed,
    unknown_path,
    unsupported_media_type,
)
from simulator.storage.managed_fields import Manager

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulator.kinds import ApiResource, Registry

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
BODY_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
READABLE = ("", "application/json", "application/yaml", "application/octet-stream")
COLLECTION_VERBS = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
OBJECT_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_OF_OWNERS = ("apiVersion", "kind", "name", "uid")
_LONGEST_MANAGER = 128
SUBRESOURCE_VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "POST": "create"}


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed request. `namespace` is None for all namespaces, `name` for a collection."""

    verb: str
    kind: ApiResource
    namespace: str | None
    name: str | None
    subresource: str | None
    query: Mapping[str, str]
    media_type: str = ""
    body: Any = None
    user_agent: str = ""

    @property
    def manager(self) -> Manager:
        """Return the manager and the operation that managedFields record for this request."""
        name = self.query.get("fieldManager") or self.user_agent.partition("/")[0][:_LONGEST_MANAGER]
        return Manager(name or "unknown", "Apply" if self.media_type == APPLY_PATCH else "Update")

    @property
    def dry_run(self) -> bool:
        """Return whether it is a dry run. Raises ApiError 400 for a value other than All."""
        options = self.body if isinstance(self.body, dict) else {}
        if options.get("kind") == "Eviction":
            options = options.get("deleteOptions") or {}
        elif self.verb not in ("delete", "deletecollection"):
            options = {}
        values = [item for item in (self.query.get("dryRun"), *(options.get("dryRun") or ())) if item]
        for item in values:
            if item != "All":
                raise bad_request(f'dryRun: Unsupported value: "{item}": supported values: "All"')
        return bool(values)

    @property
    def writes(self) -> bool:
        """Return whether carrying it out may change the store."""
        return self.verb not in ("get", "list", "watch")

    def number(self, name: str) -> int:
        """Return a query parameter that is a whole number, 0 without it. Raises ApiError 400."""
        text = self.query.get(name) or "0"
        try:
            return int(text)
        except ValueError:
            raise bad_request(f'strconv.ParseUint: parsing "{text}": invalid syntax') from None


def flag(query: Mapping[str, str], name: str) -> bool:
    """Return a boolean query parameter."""
    return query.get(name, "").lower() in ("true", "1")


def resolve(kinds: Registry, method: str, parts: Sequence[str], query: Mapping[str, str]) -> Call:
    """Return the call that a path below /api or /apis names, without its body. Raises ApiError 404 and 405."""
    group, version, remaining = (
        ("", *_version_and_rest(parts, 1)) if parts[0] == "api" else (parts[1], *_version_and_rest(parts, 2))
    )
    namespace: str | None = None
    plural, *tail = remaining
    match remaining:
        case ["namespaces", name_of_namespace, inner, *below] if kinds.find(group, version, inner):
            namespace, plural, tail = name_of_namespace, inner, below
    kind = kinds.find(group, version, plural)
    if kind is None or (namespace is not None and not kind.namespaced):
        raise unknown_path() if any(other.group == group for other in kinds) else NoPageError
    name, subresource, *beyond = (*tail, None, None)
    if any(beyond):
        raise unknown_path()
    if subresource and subresource not in kind.subresources:
        raise unknown_path()
    if kind.namespaced and namespace is None and (name or method in ("POST", "DELETE")):
        raise unknown_path() if name else method_not_allowed()
    return Call(_verb(kind, method, name, subresource, query), kind, namespace, name, subresource, query)


def _version_and_rest(parts: Sequence[str], at: int) -> tuple[str, list[str]]:
    if len(parts) < at + 2:
        raise unknown_path() if parts[0] == "api" else NoPageError
    return parts[at], list(parts[at + 1 :])


def _verb(kind: ApiResource, method: str, name: str | None, subresource: str | None, query: Mapping[str, str]) -> str:
    verbs = SUBRESOURCE_VERBS if subresource else OBJECT_VERBS if name else COLLECTION_VERBS
    verb = verbs.get(method)
    if verb is None or (subresource is None and verb not in kind.verbs):
        raise method_not_allowed()
    return "watch" if verb == "list" and flag(query, "watch") else verb


def decode(raw: bytes, media_type: str, verb: str) -> Any:
    """Return the body of a request, JSON or YAML. Raises ApiError 400 and 415."""
    if media_type == protobuf.MEDIA_TYPE and verb != "patch":
        return protobuf.decode(raw)
    if verb != "patch" and media_type not in READABLE:
        raise unsupported_media_type(BODY_TYPES)
    if not raw.strip():
        return None
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        if not media_type.endswith("yaml"):
            raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    return _decode_yaml(raw)


def _decode_yaml(raw: bytes) -> Any:
    # Imported here: few clients send YAML, and the parser is as large as the rest of the server.
    from ruamel.yaml import YAML  # noqa: PLC0415

    from engine.formats.yaml.merge_keys import UNREADABLE  # noqa: PLC0415

    try:
        return YAML(typ="safe", pure=True).load(raw.decode())
    except UNREADABLE as error:
        raise bad_request(f"error parsing YAML: {error}") from None


def mapping(body: Any) -> dict[str, Any]:
    """Return a body that has to be an object. Raises ApiError 400."""
    if not isinstance(body, dict):
        raise bad_request("couldn't get version/kind; the body is not a JSON object")
    return body


def _check_shape(obj: Mapping[str, Any]) -> None:
    """Check the types of the fields that the server itself reads. Raises ApiError 400."""
    meta = obj.get("metadata") or {}
    shapes: list[tuple[str, Any, type]] = [(field, obj.get(field), dict) for field in ("metadata", "spec", "status")]
    if isinstance(meta, dict):
        shapes += [(f"metadata.{field}", meta.get(field), dict) for field in ("labels", "annotations")]
        shapes += [(f"metadata.{field}", meta.get(field), list) for field in ("finalizers", "ownerReferences")]
        shapes += [
            (f"metadata.{field}", meta.get(field), str) for field in ("name", "generateName", "namespace", "uid")
        ]
    for path, value, expected in shapes:
        if value is not None and not isinstance(value, expected):
            raise UndecodableError(
                f"json: cannot unmarshal {type(value).__name__} into field {path} of type {expected.__name__}"
            )
    for owner in meta.get("ownerReferences") or ():
        wrong = [
            field for field in _OF_OWNERS if not isinstance(owner, dict) or not isinstance(owner.get(field, ""), str)
        ]
        if wrong:
            raise UndecodableError(f"json: cannot unmarshal metadata.ownerReferences.{wrong[0]}")


def _check_owners(kind: ApiResource, meta: Mapping[str, Any]) -> None:
    """Check that owner references are complete. Raises ApiError 422."""
    causes = [
        cause("FieldValueInvalid", 'Invalid value: "": must not be empty', f"metadata.ownerReferences.{field}")
        for owner in meta.get("ownerReferences") or ()
        for field in _OF_OWNERS
        if not owner.get(field)
    ]
    if causes:
        raise invalid(kind, meta.get("name", ""), causes)


def check_body(call: Call, obj: Mapping[str, Any]) -> None:
    """Check that an object has the kind, name and namespace that the path names. Raises ApiError 400."""
    _check_shape(obj)
    kind, meta = call.kind, obj.get("metadata") or {}
    _check_owners(kind, meta)
    version = obj.get("apiVersion") or kind.api_version
    if (obj.get("kind") or kind.kind) != kind.kind:
        raise bad_request(
            f'{obj["kind"]} in version "{version}" cannot be handled as a {kind.kind}: unknown conversion'
        )
    if version != kind.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({kind.api_version})"
        )
    if call.namespace and meta.get("namespace") not in (None, "", call.namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if call.name and meta.get("name") not in (None, "", call.name):
        raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({call.name})")
