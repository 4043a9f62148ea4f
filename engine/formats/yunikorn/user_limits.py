"""Checks for what YuniKorn rejects in the parts of a queues.yaml outside the tree: user limits, ACLs, applications.

Writing a tree into a document can violate these rules too: for example a max below a user's limit, or a new queue
without a number of applications below a queue that has it.

Source: checkACL, checkLimit, checkLimitsStructure, checkLimitResource, checkLimitMaxApplications,
checkQueueMaxApplications and checkNodeSortingPolicy of yunikorn-core, pkg/common/configs/configvalidator.go.
"""

import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import msgspec

from engine.formats.yaml.documents import line_of
from engine.formats.yunikorn import strict
from engine.formats.yunikorn.document import load, partition_of, top_queues
from engine.formats.yunikorn.fields import VCORE, our_resource
from engine.formats.yunikorn.strict import quantity
from engine.model.message import gettext_noop
from engine.model.notes import ImportFailure, Note, NoteCollector, Severity
from engine.model.quantities import CPU, Amounts, format_amount
from engine.model.queue_tree import ROOT, QueueTree

EVERYBODY = "*"
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*[$]?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*", re.ASCII)
_SORTINGS = ("fair", "binpacking")
_MOST_ACL_PARTS = 2

_ACL = gettext_noop(
    "%(value)s is not a valid YuniKorn ACL. List users, then groups, with one space between the two lists."
)
_SORTING = gettext_noop("%(value)s is not a YuniKorn policy for sorting nodes. Use fair or binpacking.")
_TWICE = gettext_noop("The partition and its root queue have different limits. YuniKorn rejects the document.")
_NOBODY = gettext_noop("The limit names no user and no group. YuniKorn rejects the document.")
_NAME = gettext_noop("%(value)s is not a valid user or group name in a limit. YuniKorn rejects the document.")
_AGAIN = gettext_noop("%(value)s has more than one limit in this queue. YuniKorn rejects the document.")
_AFTER = gettext_noop("The limit for %(value)s comes after the limit for everybody (*). YuniKorn rejects the document.")
_ALONE = gettext_noop(
    "A limit for all groups (*) must come after a limit for a named group. YuniKorn rejects the document."
)
_NOTHING = gettext_noop("The limit allows no amount of any resource. YuniKorn rejects the document.")
_EMPTY = gettext_noop("The limit has neither maxresources nor maxapplications. YuniKorn rejects the document.")
_ABOVE_MAX = gettext_noop(
    "A limit of %(limit)s %(resource)s is above the queue's max of %(max)s. YuniKorn rejects the document."
)
_ABOVE_APPLICATIONS = gettext_noop(
    "The limit allows %(limit)s applications, but the queue allows only %(max)s. YuniKorn rejects the document."
)
_MORE_APPLICATIONS = gettext_noop(
    "The queue allows %(own)s applications, but its parent queue allows only %(max)s. YuniKorn rejects the document."
)
_NO_APPLICATIONS = gettext_noop(
    "The queue must set maxapplications, because its parent queue allows only %(max)s. YuniKorn rejects the document."
)
_MORE_THAN_ABOVE = gettext_noop(
    "%(name)s can use %(limit)s %(resource)s here, but only %(max)s in a parent queue. YuniKorn rejects the document."
)
_MORE_APPLICATIONS_THAN_ABOVE = gettext_noop(
    "%(name)s can run %(limit)s applications here, but only %(max)s in a parent queue. YuniKorn rejects the document."
)
_ANY_APPLICATIONS = gettext_noop(
    "%(name)s can run any number of applications here, but only %(max)s in a parent queue. YuniKorn "
    "rejects the document."
)


def check_written(document: str, tree: QueueTree, book: NoteCollector) -> None:
    """Add an error for each fault that a document would have with its queues made those of a tree.

    The errors have no lines, because the lines would change. Raise ImportFailure for a document that can't be read.
    """
    loaded, own_notes = _loaded(document), NoteCollector()
    strict.check(loaded, own_notes)
    if own_notes.failed:
        book.notes += own_notes.notes
        return
    partition = partition_of(loaded, NoteCollector())
    top, implied = top_queues(partition)
    written = _with_tree(top, tree, tree.root if implied else "")
    check({**partition, "queues": [{**written, "limits": partition.get("limits")} if implied else written]}, own_notes)
    book.notes += [msgspec.structs.replace(note, line=None) for note in own_notes.notes]


@lru_cache(maxsize=2)
def _loaded(document: str) -> Mapping[str, Any]:
    """Return the document, cached because a draft needs it at each edit; callers must not change it."""
    return load(document)


def _with_tree(queues: Sequence[Any], tree: QueueTree, above: str) -> dict[str, Any]:
    """Return the root of a tree as a mapping with the max of every queue and the limits of the document's queues."""
    foreign: dict[str, Mapping[str, Any]] = {}
    pending = [(above, queue) for queue in queues]
    while pending:
        parent, mapping = pending.pop()
        path = f"{parent}.{mapping['name']}" if parent else ROOT
        foreign[path.lower()] = mapping
        pending += [(path, child) for child in mapping.get("queues") or []]
    mappings: dict[str, dict[str, Any]] = {}
    for path in reversed(list(tree.walk())):
        foreign_fields = foreign.get(path.lower(), {})
        limits = {name: f"{amount}m" if name == CPU else str(amount) for name, amount in tree[path].max.items()}
        mappings[path] = {
            **{key: foreign_fields[key] for key in ("limits", "maxapplications") if key in foreign_fields},
            "name": path.rpartition(".")[2],
            "resources": {"max": {VCORE if name == CPU else name: amount for name, amount in limits.items()}},
            "queues": [mappings[child] for child in tree.children[path]],
        }
    return mappings[tree.root]


class _LimitSubject(NamedTuple):
    """The user or group that a limit applies to."""

    kind: str
    """Either ``users`` or ``groups``."""
    name: str


_Resources = ChainMap[_LimitSubject, Amounts]
_Applications = ChainMap[_LimitSubject, int]
_Allowed = TypeVar("_Allowed", Amounts, int)


@dataclass(frozen=True)
class _Limit:
    """A limit, as far as it can be read."""

    subjects: tuple[_LimitSubject, ...]
    resources: Amounts
    """Amounts in YuniKorn's units, by our resource names."""
    sets_resources: bool
    applications: int
    line: int | None


@dataclass(frozen=True)
class _LimitedQueue:
    """A queue with its limits and those of the queues above it."""

    path: str
    mapping: Mapping[str, Any]
    limits: tuple[_Limit, ...]
    resources: _Resources
    applications: _Applications


def check(partition: Mapping[str, Any], book: NoteCollector) -> None:
    """Add an error for each fault in a partition. Every key must be known and of the right type."""
    sorting = partition.get("nodesortpolicy") or {}
    if (by := sorting.get("type")) not in (None, "", *_SORTINGS):
        book.add(Severity.ERROR, "", line_of(sorting, "type"), _SORTING, value=str(by))
    for queue in _queues(partition, book):
        _check_acls(queue, book)
        _check_limits(queue, book)


def _queues(partition: Mapping[str, Any], book: NoteCollector) -> Iterator[_LimitedQueue]:
    """Yield every queue with the limits of the queues above it; the root uses the partition's limits if it has none."""
    top, implied = top_queues(partition)
    root: Mapping[str, Any] = {"name": ROOT, "queues": top} if implied else top[0]
    shared = partition.get("limits") or []
    if shared and root.get("limits") and shared != root["limits"]:
        book.add(Severity.ERROR, "", line_of(partition, "limits"), _TWICE)
    pending = [_LimitedQueue(ROOT, root, _limits(root.get("limits") or shared), ChainMap(), ChainMap())]
    while pending:
        queue = pending.pop()
        yield queue
        resources = _inherited(queue, queue.resources, lambda limit: limit.resources, _least)
        applications = _inherited(
            queue, queue.applications, lambda limit: limit.applications, lambda own_value, _above: own_value
        )
        for child in reversed([child_mapping for child_mapping in queue.mapping.get("queues") or [] if child_mapping]):
            _check_applications(queue, child, book)
            path = f"{queue.path}.{child.get('name')}"
            pending.append(_LimitedQueue(path, child, _limits(child.get("limits")), resources, applications))


def _limits(limits: Sequence[Mapping[str, Any] | None] | None) -> tuple[_Limit, ...]:
    return tuple(_limit(limit) for limit in limits or () if limit)


def _limit(fields: Mapping[str, Any]) -> _Limit:
    kinds = ("users", "groups")
    return _Limit(
        subjects=tuple(_LimitSubject(kind, str(name)) for kind in kinds for name in fields.get(kind) or ()),
        resources=_amounts(fields.get("maxresources")),
        sets_resources=bool(fields.get("maxresources")),
        applications=int(fields.get("maxapplications") or 0),
        line=next((line for key in fields if (line := line_of(fields, key)) is not None), None),
    )


def _amounts(resources: Mapping[str, Any] | None) -> Amounts:
    amounts = {our_resource(str(name)): quantity(str(name), value) for name, value in (resources or {}).items()}
    return {name: amount for name, amount in amounts.items() if amount is not None}


def _least(first: Amounts, second: Amounts) -> Amounts:
    return {name: min(amounts[name] for amounts in (first, second) if name in amounts) for name in {*first, *second}}


def _inherited(
    queue: _LimitedQueue,
    above: ChainMap[_LimitSubject, _Allowed],
    allowed: Callable[[_Limit], _Allowed],
    combined: Callable[[_Allowed, _Allowed], _Allowed],
) -> ChainMap[_LimitSubject, _Allowed]:
    """Return the limits of users and groups that apply below a queue."""
    if not queue.limits:
        return above
    inherited = above.new_child()
    for limit in queue.limits:
        for subject in limit.subjects:
            own_limit = allowed(limit)
            inherited[subject] = combined(own_limit, above[subject]) if subject in above else own_limit
    return inherited


def _check_acls(queue: _LimitedQueue, book: NoteCollector) -> None:
    for key in ("adminacl", "submitacl"):
        value = str(queue.mapping.get(key) or "")
        if len(value.split()) > _MOST_ACL_PARTS:
            book.add(Severity.ERROR, queue.path, line_of(queue.mapping, key), _ACL, value=value)


def _check_applications(above: _LimitedQueue, child: Mapping[str, Any], book: NoteCollector) -> None:
    most, own_value = (int(mapping.get("maxapplications") or 0) for mapping in (above.mapping, child))
    path, line = f"{above.path}.{child.get('name')}", line_of(child, "maxapplications")
    if most and own_value > most:
        book.add(Severity.ERROR, path, line, _MORE_APPLICATIONS, own=str(own_value), max=str(most))
    elif most and not own_value:
        book.add(Severity.ERROR, path, line_of(child, "name"), _NO_APPLICATIONS, max=str(most))


def _check_limits(queue: _LimitedQueue, book: NoteCollector) -> None:
    earlier: _Names = {"users": set(), "groups": set()}
    queue_max = _amounts((queue.mapping.get("resources") or {}).get("max")) if queue.path != ROOT else {}
    for limit in queue.limits:
        for message, params in (
            *_wrong_names(limit, earlier),
            *_wrong_amounts(limit, queue, queue_max),
            *_more_than_above(limit, queue),
        ):
            book.add(Severity.ERROR, queue.path, limit.line, message, **params)


_Faults = Iterator[tuple[str, dict[str, str]]]
_Names = dict[str, set[str]]
"""Kind, ``users`` or ``groups`` -> names."""


def _wrong_names(limit: _Limit, earlier: _Names) -> _Faults:
    """Yield the faults in the names of a limit.

    ``earlier`` holds the users and groups of the limits before it; those of this limit are added.
    """
    if not limit.subjects:
        yield _NOBODY, {}
    for subject in limit.subjects:
        name = _USER if subject.kind == "users" else _GROUP
        if subject.name != EVERYBODY and not name.fullmatch(subject.name):
            yield _NAME, {"value": repr(subject.name)}
        if subject.name in earlier[subject.kind]:
            yield _AGAIN, {"value": subject.name}
        if subject.name != EVERYBODY and EVERYBODY in earlier[subject.kind]:
            yield _AFTER, {"value": subject.name}
        earlier[subject.kind].add(subject.name)
    if earlier["groups"] == {EVERYBODY}:
        yield _ALONE, {}


def _wrong_amounts(limit: _Limit, queue: _LimitedQueue, queue_max: Amounts) -> _Faults:
    if limit.sets_resources and not any(limit.resources.values()):
        yield _NOTHING, {}
    if not limit.sets_resources and not limit.applications:
        yield _EMPTY, {}
    most = int(queue.mapping.get("maxapplications") or 0)
    if most and limit.applications > most:
        yield _ABOVE_APPLICATIONS, {"limit": str(limit.applications), "max": str(most)}
    for name, amount in limit.resources.items():
        if amount > queue_max.get(name, amount):
            params = {"limit": format_amount(name, amount), "max": format_amount(name, queue_max[name])}
            yield _ABOVE_MAX, {"resource": name, **params}


def _more_than_above(limit: _Limit, queue: _LimitedQueue) -> _Faults:
    """Yield the faults of a limit that exceeds the limit above of the same user or group, else that of everybody."""
    for subject in limit.subjects:
        everybody = _LimitSubject(subject.kind, EVERYBODY)
        resources = queue.resources.get(subject, queue.resources.get(everybody, {}))
        for name, amount in limit.resources.items():
            if amount > resources.get(name, amount):
                params = {"limit": format_amount(name, amount), "max": format_amount(name, resources[name])}
                yield _MORE_THAN_ABOVE, {"name": subject.name, "resource": name, **params}
        most = queue.applications.get(subject, queue.applications.get(everybody, 0))
        if most and not limit.applications:
            yield _ANY_APPLICATIONS, {"name": subject.name, "max": str(most)}
        elif most and limit.applications > most:
            params = {"limit": str(limit.applications), "max": str(most)}
            yield _MORE_APPLICATIONS_THAN_ABOVE, {"name": subject.name, **params}


def limit_errors(tree: QueueTree, document: str) -> tuple[Note, ...]:
    """Return the errors that YuniKorn would report for its document with its queues made those of the tree.

    Only limits of users and applications are checked; engine.tree.lint.yunikorn finds the other errors. A document that
    can't be read results in no errors.
    """
    if not any(word in document for word in ("limits", "maxapplications")):
        return ()
    return _limit_errors(tree, document)


@lru_cache(maxsize=4)
def _limit_errors(tree: QueueTree, document: str) -> tuple[Note, ...]:
    book = NoteCollector()
    with suppress(ImportFailure):
        check_written(document, tree, book)
    return tuple(book.notes)
