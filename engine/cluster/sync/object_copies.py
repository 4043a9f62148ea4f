"""Reads the objects that keep a tree as one text, and writes them back one by one with server-side apply.

A request contains only the fields that a tree decides. A field of another manager is overwritten only if somebody
confirmed that, each object must be unchanged since it was shown, and all writes are tried (dry run) before the first.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from engine.cluster.acting.objects import CONFLICT, NOT_FOUND
from engine.cluster.connecting.connection import APPLY_PATCH, MERGE_PATCH, Connection
from engine.cluster.connecting.identity import unreachable_error
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.inspection.refusals import no_answer_error, rejection_error
from engine.cluster.inspection.rights import APPLYING, Right
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


class _There(NamedTuple):
    """An object as the API server has it."""

    found: TreeObject
    meta: Mapping[str, Any]

    @property
    def entries(self) -> list[FieldsOfManager]:
        """Return the field managers of the object, with the fields that each wrote."""
        return msgspec.convert(self.meta.get("managedFields") or [], list[FieldsOfManager])


def read_objects(family: Family, connection: Connection) -> ClusterCopy | None:
    """Return all objects of a family; None where it is not served. Raises as ``read_config_map`` does."""
    there = _there(family, connection)
    if there is None:
        return None
    text = manifest(family, (one.found for one in there.values()))
    writer = max((last_writer(one.entries, "spec") for one in there.values()), key=_when, default=Writer())
    return ClusterCopy(text=text, version=sha256(text.encode()).hexdigest(), writer=writer.name, written_at=writer.at)


def _when(writer: Writer) -> str:
    return writer.at.isoformat() if writer.at else ""


def write_objects(family: Family, connection: Connection, asked: Rewrite) -> ClusterCopy:
    """Write the differences, object by object, and return the new copy.

    Each object must be as it was before, or already as wanted. Raises CopyChangedError, FieldConflictError,
    ApiRefusedError, UnknownError, and UnreachableError.
    """
    there = _there(family, connection) or {}
    before, wanted = parse(family, asked.before), parse(family, asked.text)
    for key in {*before, *wanted, *there}:
        _check(family, there.get(key), before.get(key), wanted.get(key))
    todo = [one for key, one in wanted.items() if not _is_done(family, there.get(key), before.get(key), one)]
    found = (_clashes(family, connection, there.get(one.key), before.get(one.key), one) for one in todo)
    clashes = [clash for each in found for clash in each]
    if left := [clash for clash in clashes if clash not in asked.confirmed]:
        raise FieldConflictError(tuple(left))
    confirmed = {clash.object for clash in clashes}
    for one in todo:
        _write(family, connection, there.get(one.key), before.get(one.key), one, force=one.title in confirmed)
    for key in [key for key in before if key not in wanted and key in there][::-1]:
        _delete(family, connection, there[key], before[key])
    made = read_objects(family, connection)
    if made is None:
        raise CopyChangedError
    return made


def _check(family: Family, there: _There | None, before: TreeObject | None, wanted: TreeObject | None) -> None:
    """Raise CopyChangedError for an object that is neither as it was shown nor partly or fully written."""
    now = there.found if there else None
    begun = before is not None and wanted is not None and now == after_apply(family, before, wanted)
    if now != before and not begun and not _is_done(family, there, before, wanted):
        raise CopyChangedError


def _is_done(family: Family, there: _There | None, before: TreeObject | None, wanted: TreeObject | None) -> bool:
    """Return whether the object already has all that would be sent; the API server may have added defaults."""
    if wanted is None or there is None:
        return wanted is None and there is None
    if before == wanted:
        return there.found == before
    body = apply_body(family, before, wanted)
    return _holds(there.found.body, body) and not removal_patch(family, there.found, wanted)


def _holds(has: Any, says: Any) -> bool:
    if isinstance(says, Mapping):
        return isinstance(has, Mapping) and all(_holds(has.get(name), value) for name, value in says.items())
    if isinstance(says, list):
        return isinstance(has, list) and len(has) == len(says) and all(map(_holds, has, says))
    return bool(has == says)


def _body(family: Family, there: _There | None, before: TreeObject | None, wanted: TreeObject) -> dict[str, Any]:
    return apply_body(family, before, wanted, applied_by(there.entries, MANAGER, "spec") if there else ())


def _clashes(
    family: Family, connection: Connection, there: _There | None, before: TreeObject | None, wanted: TreeObject
) -> Iterator[FieldConflict]:
    """Yield the conflicts with other field managers, found by a dry run. Raises for any other obstacle."""
    try:
        _apply(family, connection, wanted, _body(family, there, before, wanted), dryRun="All")
    except ApiFailure as error:
        if error.code != CONFLICT or not error.fields:
            raise _refused(family, connection, error, "patch", wanted) from None
        for field, message in error.fields:
            yield FieldConflict(wanted.title, field, message)
    except ConnectionFailure as error:
        raise unreachable_error(connection, error) from None


def _write(
    family: Family,
    connection: Connection,
    there: _There | None,
    before: TreeObject | None,
    wanted: TreeObject,
    *,
    force: bool,
) -> None:
    """Write an object; retry while only its status changes, and fail where its specification has changed."""
    for _attempt in range(_SETTLED):
        body, meta = _body(family, there, before, wanted), there.meta if there else {}
        version = {"resourceVersion": meta["resourceVersion"], "uid": meta["uid"]} if there else {}
        try:
            guarded = body | {"metadata": {**body["metadata"], **version}}
            _apply(family, connection, wanted, guarded, force=str(force).lower())
            gone = removal_patch(family, there.found, wanted) if there else {}
            if gone:
                query = {"fieldManager": MANAGER}
                connection.request("PATCH", _path(family, wanted), query=query, body=gone, content_type=MERGE_PATCH)
        except ConnectionFailure as error:
            raise no_answer_error(str(error)) from None
        except ApiFailure as error:
            if error.code != CONFLICT or error.fields:
                raise _refused(family, connection, error, "patch", wanted) from None
        else:
            return
        there = (_there(family, connection) or {}).get(wanted.key)
        _check(family, there, before, wanted)
    raise CopyChangedError


def _delete(family: Family, connection: Connection, there: _There, before: TreeObject) -> None:
    """Delete an object only as it was shown: any other content was written by somebody unaware of the deletion."""
    for _attempt in range(_SETTLED):
        guard = {"uid": there.meta["uid"], "resourceVersion": there.meta["resourceVersion"]}
        try:
            connection.request("DELETE", _path(family, there.found), body={"preconditions": guard})
        except ConnectionFailure as error:
            raise no_answer_error(str(error)) from None
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                return
            if error.code != CONFLICT:
                raise _refused(family, connection, error, "delete", before) from None
        else:
            return
        now = (_there(family, connection) or {}).get(before.key)
        _check(family, now, before, None)
        if now is None:
            return
        there = now
    raise CopyChangedError


def _apply(family: Family, connection: Connection, one: TreeObject, body: Mapping[str, Any], **query: str) -> None:
    asked = {"fieldManager": MANAGER, **query}
    connection.request("PATCH", _path(family, one), query=asked, body=body, content_type=APPLY_PATCH)


def _refused(family: Family, connection: Connection, error: ApiFailure, verb: str, one: TreeObject) -> Exception:
    return rejection_error(connection, error, _right(family, verb, one.kind))


def _right(family: Family, verb: str, kind: str) -> Right:
    wanted = verb, family.resources[kind], family.group
    return next(one for one in APPLYING if (one.verb, one.resource, one.group) == wanted)


def _path(family: Family, one: TreeObject) -> str:
    space = f"/namespaces/{quote(one.namespace, safe='')}" if one.namespace else ""
    return f"/apis/{one.body['apiVersion']}{space}/{family.resources[one.kind]}/{quote(one.name, safe='')}"


def _there(family: Family, connection: Connection) -> dict[Key, _There] | None:
    """Return the objects of a family by their keys; None where the family is not served."""
    found: dict[Key, _There] = {}
    for kind in family.resources:
        items = _listed(family, connection, kind)
        if items is None and kind == family.anchor:
            return None
        for one in items or ():
            found[one.found.key] = one
    return found


def _listed(family: Family, connection: Connection, kind: str) -> list[_There] | None:
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
        return [_There(TreeObject.of({**one, **named}), one["metadata"]) for one in listed]
    return None
