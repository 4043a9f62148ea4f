"""Kueue's queues as the cluster has them: read as one text, written back object by object, by server-side apply.

What is sent holds the fields alone that a tree decides. Nothing is forced but what somebody confirmed, each object has
to be as it was shown, and all of them are tried (dry run) before the first is written.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from engine.cluster.connection import MERGE_PATCH, Connection
from engine.cluster.copies import MANAGER, ClashError, Conflict, Copy, MovedError, Rewrite
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.identity import unreachable
from engine.cluster.objects import CONFLICT, NOT_FOUND
from engine.cluster.refusals import refused, unanswered
from engine.cluster.rights import APPLYING_KUEUE
from engine.formats.kubernetes_wire import FieldsOfManager
from engine.formats.kueue.names import CLUSTER_QUEUE, GROUP
from engine.formats.kueue.objects import OBJECTS, Found, halfway, manifest, parse, sent, taken_away
from engine.formats.managers import Writer, applied_by, last_writer

_VERSIONS = ("v1beta2", "v1beta1", "v1alpha1")
_APPLY = "application/apply-patch+yaml"
_SETTLED = 5
"""Times that an object is read anew as its status moved on in between."""
Key = tuple[str, str, str]
"""Kind, namespace, name."""


class _List(msgspec.Struct):
    items: list[dict[str, Any]] = []


class _There(NamedTuple):
    """An object as the API server has it."""

    found: Found
    meta: Mapping[str, Any]

    @property
    def entries(self) -> list[FieldsOfManager]:
        """Who wrote what of it."""
        return msgspec.convert(self.meta.get("managedFields") or [], list[FieldsOfManager])


def read_kueue(connection: Connection) -> Copy | None:
    """All Cohorts, ClusterQueues and LocalQueues; None where Kueue is not there. Raises as ``read_config_map``."""
    there = _there(connection)
    if there is None:
        return None
    text = manifest(one.found for one in there.values())
    writer = max((last_writer(one.entries, "spec") for one in there.values()), key=_when, default=Writer())
    return Copy(text=text, version=sha256(text.encode()).hexdigest(), writer=writer.name, written_at=writer.at)


def _when(writer: Writer) -> str:
    return writer.at.isoformat() if writer.at else ""


def write_kueue(connection: Connection, asked: Rewrite) -> Copy:
    """Write what differs, object by object; as it is then.

    Each must be as it was before, or what it is to be already. Raises MovedError, ClashError, RefusedError,
    UnknownError, and UnreachableError.
    """
    there = _there(connection) or {}
    before, wanted = parse(asked.before), parse(asked.text)
    for key in {*before, *wanted, *there}:
        _check(there.get(key), before.get(key), wanted.get(key))
    todo = [one for key, one in wanted.items() if not _is_done(there.get(key), before.get(key), one)]
    clashes = [clash for one in todo for clash in _clashes(connection, there.get(one.key), before.get(one.key), one)]
    if left := [clash for clash in clashes if clash not in asked.confirmed]:
        raise ClashError(tuple(left))
    confirmed = {clash.object for clash in clashes}
    for one in todo:
        _write(connection, there.get(one.key), before.get(one.key), one, force=one.title in confirmed)
    for key in [key for key in before if key not in wanted and key in there][::-1]:
        _delete(connection, there[key], before[key])
    made = read_kueue(connection)
    if made is None:
        raise MovedError
    return made


def _check(there: _There | None, before: Found | None, wanted: Found | None) -> None:
    """Raise MovedError for what is neither as it was shown nor on its way to what it is to be."""
    now = there.found if there else None
    begun = before is not None and wanted is not None and now == halfway(before, wanted)
    if now != before and not begun and not _is_done(there, before, wanted):
        raise MovedError


def _is_done(there: _There | None, before: Found | None, wanted: Found | None) -> bool:
    """Whether it says all that would be sent; the API server may have filled in more."""
    if wanted is None or there is None:
        return wanted is None and there is None
    if before == wanted:
        return there.found == before
    body = sent(before, wanted)
    return _holds(there.found.body, body) and not taken_away(there.found, wanted)


def _holds(has: Any, says: Any) -> bool:
    if isinstance(says, Mapping):
        return isinstance(has, Mapping) and all(_holds(has.get(name), value) for name, value in says.items())
    if isinstance(says, list):
        return isinstance(has, list) and len(has) == len(says) and all(map(_holds, has, says))
    return bool(has == says)


def _body(there: _There | None, before: Found | None, wanted: Found) -> dict[str, Any]:
    return sent(before, wanted, applied_by(there.entries, MANAGER, "spec") if there else ())


def _clashes(connection: Connection, there: _There | None, before: Found | None, wanted: Found) -> Iterator[Conflict]:
    """Whose fields it changes, by a dry run. Raises what would be in the way besides."""
    try:
        _apply(connection, wanted, _body(there, before, wanted), dryRun="All")
    except ApiFailure as error:
        if error.code != CONFLICT or not error.fields:
            raise _refused(connection, error, "patch", wanted) from None
        for field, message in error.fields:
            yield Conflict(wanted.title, field, message)
    except ConnectionFailure as error:
        raise unreachable(connection, error) from None


def _write(connection: Connection, there: _There | None, before: Found | None, wanted: Found, *, force: bool) -> None:
    """Of an object that others change all the while, its status, only another specification is in the way."""
    for _attempt in range(_SETTLED):
        body, meta = _body(there, before, wanted), there.meta if there else {}
        version = {"resourceVersion": meta["resourceVersion"], "uid": meta["uid"]} if there else {}
        try:
            _apply(connection, wanted, body | {"metadata": {**body["metadata"], **version}}, force=str(force).lower())
            gone = taken_away(there.found, wanted) if there else {}
            if gone:
                query = {"fieldManager": MANAGER}
                connection.request("PATCH", _path(wanted), query=query, body=gone, content_type=MERGE_PATCH)
        except ConnectionFailure as error:
            raise unanswered(str(error)) from None
        except ApiFailure as error:
            if error.code != CONFLICT or error.fields:
                raise _refused(connection, error, "patch", wanted) from None
        else:
            return
        there = (_there(connection) or {}).get(wanted.key)
        _check(there, before, wanted)
    raise MovedError


def _delete(connection: Connection, there: _There, before: Found) -> None:
    """As it was shown: whatever else it says by now is somebody's, who knows of no deletion."""
    for _attempt in range(_SETTLED):
        guard = {"uid": there.meta["uid"], "resourceVersion": there.meta["resourceVersion"]}
        try:
            connection.request("DELETE", _path(there.found), body={"preconditions": guard})
        except ConnectionFailure as error:
            raise unanswered(str(error)) from None
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                return
            if error.code != CONFLICT:
                raise _refused(connection, error, "delete", before) from None
        else:
            return
        now = (_there(connection) or {}).get(before.key)
        _check(now, before, None)
        if now is None:
            return
        there = now
    raise MovedError


def _apply(connection: Connection, one: Found, body: Mapping[str, Any], **query: str) -> None:
    asked = {"fieldManager": MANAGER, **query}
    connection.request("PATCH", _path(one), query=asked, body=body, content_type=_APPLY)


def _refused(connection: Connection, error: ApiFailure, verb: str, one: Found) -> Exception:
    right = next(each for each in APPLYING_KUEUE if (each.verb, each.resource) == (verb, OBJECTS[one.kind]))
    return refused(connection, error, right)


def _path(one: Found) -> str:
    space = f"/namespaces/{quote(one.namespace, safe='')}" if one.namespace else ""
    return f"/apis/{one.body['apiVersion']}{space}/{OBJECTS[one.kind]}/{quote(one.name, safe='')}"


def _there(connection: Connection) -> dict[Key, _There] | None:
    """None where no ClusterQueues are served."""
    found: dict[Key, _There] = {}
    for kind in OBJECTS:
        items = _listed(connection, kind)
        if items is None and kind == CLUSTER_QUEUE:
            return None
        for one in items or ():
            found[one.found.key] = one
    return found


def _listed(connection: Connection, kind: str) -> list[_There] | None:
    right = next(one for one in APPLYING_KUEUE if (one.verb, one.resource) == ("list", OBJECTS[kind]))
    for version in _VERSIONS:
        try:
            answer = connection.request("GET", f"/apis/{GROUP}/{version}/{OBJECTS[kind]}")
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                continue
            raise refused(connection, error, right) from None
        except ConnectionFailure as error:
            raise unreachable(connection, error) from None
        try:
            listed = msgspec.json.decode(answer.body, type=_List).items
        except msgspec.DecodeError:
            raise unreachable(connection, ConnectionFailure(f"the list of {OBJECTS[kind]} can't be read")) from None
        named = {"apiVersion": f"{GROUP}/{version}", "kind": kind}
        return [_There(Found.of({**one, **named}), one["metadata"]) for one in listed]
    return None
