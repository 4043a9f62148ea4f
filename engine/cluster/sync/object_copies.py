"""Reads the objects that keep a tree as one text, and writes them back one by one with server-side apply.

A request contains only the fields that a tree decides. A field of another manager is overwritten only if somebody
confirmed that, each object must be unchanged since it was shown, and all writes are tried (dry run) before the first.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from kubernetes import client

from engine.cluster.acting.objects import CONFLICT, NOT_FOUND, unchanged
from engine.cluster.connecting.connection import APPLY_PATCH, MERGE_PATCH, Connection
from engine.cluster.connecting.identity import unreachable_error
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.inspection.refusals import no_answer_error, rejection_error
from engine.cluster.inspection.rights import APPLYING, OBSERVING, Right
from engine.cluster.sync.copies import (
    MANAGER,
    ClusterCopy,
    CopyChangedError,
    FieldConflict,
    FieldConflictError,
    Rewrite,
)
from engine.formats.kubernetes.managed_fields import Writer, applied_by, last_writer
from engine.formats.kubernetes.wire import FieldsOfManager
from engine.formats.tree_objects import Family, TreeObject, after_apply, apply_body, manifest, parse, removal_patch
from engine.formats.undecodable import UNDECODABLE

_SETTLED = 5
"""How often an object is read again because its status changed in the meantime."""
Key = tuple[str, str, str]
"""The kind, namespace and name of an object."""


class _List(msgspec.Struct):
    items: list[dict[str, Any]] = []


class _StoredObject(NamedTuple):
    """An object as the API server has it."""

    tree_object: TreeObject
    meta: Mapping[str, Any]

    @property
    def entries(self) -> list[FieldsOfManager]:
        """Return the field managers of the object, with the fields that each wrote."""
        return msgspec.convert(self.meta.get("managedFields") or [], list[FieldsOfManager])


def read_objects(family: Family, connection: Connection) -> ClusterCopy | None:
    """Return all objects of a family; None where it is not served. Raises as ``read_config_map`` does."""
    stored = _stored_objects(family, connection)
    if stored is None:
        return None
    text = manifest(family, (item.tree_object for item in stored.values()))
    writer = max((last_writer(item.entries, "spec") for item in stored.values()), key=_when, default=Writer())
    return ClusterCopy(text=text, version=sha256(text.encode()).hexdigest(), writer=writer.name, written_at=writer.at)


def _when(writer: Writer) -> str:
    return writer.at.isoformat() if writer.at else ""


def write_objects(family: Family, connection: Connection, rewrite: Rewrite) -> ClusterCopy:
    """Write the differences, object by object, and return the new copy.

    Each object must be as it was before, or already as wanted. Raises CopyChangedError, FieldConflictError,
    ApiRefusedError, UnknownError, and UnreachableError.
    """
    stored = _stored_objects(family, connection) or {}
    before, desired = parse(family, rewrite.before), parse(family, rewrite.text)
    for key in {*before, *desired, *stored}:
        _check(family, stored.get(key), before.get(key), desired.get(key))
    todo = [obj for key, obj in desired.items() if not _is_done(family, stored.get(key), before.get(key), obj)]
    conflicts_by_object = (_clashes(family, connection, stored.get(obj.key), before.get(obj.key), obj) for obj in todo)
    clashes = [clash for conflicts in conflicts_by_object for clash in conflicts]
    if unconfirmed := [clash for clash in clashes if clash not in rewrite.confirmed]:
        raise FieldConflictError(tuple(unconfirmed))
    confirmed = {clash.object for clash in clashes}
    for obj in todo:
        _write(family, connection, stored.get(obj.key), before.get(obj.key), obj, force=obj.title in confirmed)
    for key in [key for key in before if key not in desired and key in stored][::-1]:
        _delete(family, connection, stored[key], before[key])
    written = read_objects(family, connection)
    if written is None:
        raise CopyChangedError
    return written


def _check(family: Family, stored: _StoredObject | None, before: TreeObject | None, desired: TreeObject | None) -> None:
    """Raise CopyChangedError for an object that is neither as it was shown nor partly or fully written."""
    now = stored.tree_object if stored else None
    begun = before is not None and desired is not None and now == after_apply(family, before, desired)
    if now != before and not begun and not _is_done(family, stored, before, desired):
        raise CopyChangedError


def _is_done(
    family: Family, stored: _StoredObject | None, before: TreeObject | None, desired: TreeObject | None
) -> bool:
    """Return whether the object already has all that would be sent; the API server may have added defaults."""
    if desired is None or stored is None:
        return desired is None and stored is None
    if before == desired:
        return stored.tree_object == before
    body = apply_body(family, before, desired)
    return _holds(stored.tree_object.body, body) and not removal_patch(family, stored.tree_object, desired)


def _holds(actual: Any, expected: Any) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(_holds(actual.get(name), value) for name, value in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(_holds, actual, expected))
    return bool(actual == expected)


def _body(
    family: Family, stored: _StoredObject | None, before: TreeObject | None, desired: TreeObject
) -> dict[str, Any]:
    return apply_body(family, before, desired, applied_by(stored.entries, MANAGER, "spec") if stored else ())


def _clashes(
    family: Family, connection: Connection, stored: _StoredObject | None, before: TreeObject | None, desired: TreeObject
) -> Iterator[FieldConflict]:
    """Yield the conflicts with other field managers, found by a dry run. Raises for any other obstacle."""
    try:
        _apply(family, connection, desired, _body(family, stored, before, desired), dry_run="All")
    except ApiFailure as error:
        if error.code != CONFLICT or not error.fields:
            raise _refused(family, connection, error, "patch", desired) from None
        for field, message in error.fields:
            yield FieldConflict(desired.title, field, message)
    except ConnectionFailure as error:
        raise unreachable_error(connection, error) from None


def _write(
    family: Family,
    connection: Connection,
    stored: _StoredObject | None,
    before: TreeObject | None,
    desired: TreeObject,
    *,
    force: bool,
) -> None:
    """Write an object; retry while only its status changes, and fail where its specification has changed."""
    for _attempt in range(_SETTLED):
        body, meta = _body(family, stored, before, desired), stored.meta if stored else {}
        version = {"resourceVersion": meta["resourceVersion"], "uid": meta["uid"]} if stored else {}
        try:
            guarded = body | {"metadata": {**body["metadata"], **version}}
            _apply(family, connection, desired, guarded, force=force)
            removal = removal_patch(family, stored.tree_object, desired) if stored else {}
            if removal:
                _patch(family, connection, desired, removal, _content_type=MERGE_PATCH)
        except ConnectionFailure as error:
            raise no_answer_error(str(error)) from None
        except ApiFailure as error:
            if error.code != CONFLICT or error.fields:
                raise _refused(family, connection, error, "patch", desired) from None
        else:
            return
        stored = (_stored_objects(family, connection) or {}).get(desired.key)
        _check(family, stored, before, desired)
    raise CopyChangedError


def _delete(family: Family, connection: Connection, stored: _StoredObject, before: TreeObject) -> None:
    """Delete an object only as it was shown: any other content was written by somebody unaware of the deletion."""
    for _attempt in range(_SETTLED):
        options = unchanged(stored.meta["uid"], stored.meta["resourceVersion"])
        try:
            _send(family, connection, "delete", stored.tree_object, body=options)
        except ConnectionFailure as error:
            raise no_answer_error(str(error)) from None
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                return
            if error.code != CONFLICT:
                raise _refused(family, connection, error, "delete", before) from None
        else:
            return
        now = (_stored_objects(family, connection) or {}).get(before.key)
        _check(family, now, before, None)
        if now is None:
            return
        stored = now
    raise CopyChangedError


def _apply(family: Family, connection: Connection, obj: TreeObject, body: Mapping[str, Any], **options: Any) -> None:
    _patch(family, connection, obj, body, _content_type=APPLY_PATCH, **options)


def _patch(family: Family, connection: Connection, obj: TreeObject, body: Mapping[str, Any], **options: Any) -> None:
    _send(family, connection, "patch", obj, body=dict(body), field_manager=MANAGER, **options)


def _send(family: Family, connection: Connection, verb: str, obj: TreeObject, **options: Any) -> None:
    """Send a request about one object by the official client's method for it, whose answer is not decoded."""
    group, _, version = obj.body["apiVersion"].partition("/")
    scope, namespace = ("namespaced", (obj.namespace,)) if obj.namespace else ("cluster", ())
    send = getattr(client.CustomObjectsApi(KubernetesClient(connection)), f"{verb}_{scope}_custom_object")
    send(group, version, *namespace, family.resources[obj.kind], obj.name, _preload_content=False, **options)


def _refused(family: Family, connection: Connection, error: ApiFailure, verb: str, obj: TreeObject) -> Exception:
    return rejection_error(connection, error, _right(family, verb, obj.kind))


def _right(family: Family, verb: str, kind: str) -> Right:
    key = verb, family.resources[kind], family.group
    rights = (*APPLYING, *OBSERVING)  # a tree that is only read, as Volcano's, is read while observing
    return next(right for right in rights if (right.verb, right.resource, right.group) == key)


def _stored_objects(family: Family, connection: Connection) -> dict[Key, _StoredObject] | None:
    """Return the objects of a family by their keys; None where the family is not served."""
    by_key: dict[Key, _StoredObject] = {}
    for kind in family.resources:
        items = _listed(family, connection, kind)
        if items is None and kind == family.anchor:
            return None
        for item in items or ():
            by_key[item.tree_object.key] = item
    return by_key


def _listed(family: Family, connection: Connection, kind: str) -> list[_StoredObject] | None:
    for version in family.versions:
        try:
            answer = connection.request("GET", f"/apis/{family.group}/{version}/{family.resources[kind]}")
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                continue
            raise rejection_error(connection, error, _right(family, "list", kind)) from None
        except ConnectionFailure as error:
            raise unreachable_error(connection, error) from None
        try:
            listed = msgspec.json.decode(answer.body, type=_List).items
        except UNDECODABLE:
            why = ConnectionFailure(f"the list of {family.resources[kind]} can't be read")
            raise unreachable_error(connection, why) from None
        named = {"apiVersion": f"{family.group}/{version}", "kind": kind}
        return [_StoredObject(TreeObject.of({**item, **named}), item["metadata"]) for item in listed]
    return None
