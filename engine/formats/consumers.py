"""kube-arbitrator's Consumers <-> QueueTree. What has no field here is kept.

A Consumer is the leaf of its namespace: the one that it is in, else the one that it is named after. ``hard`` is max,
``reserved`` guaranteed, ``weight`` a whole number; ``cpu`` and ``requests.cpu`` are one. One that others name as
``spec.parent`` is a parent.

Source: the proposal of k8s-arbitrator; the hierarchy is from its list of what was to come.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from ruamel.yaml.comments import CommentedMap

from engine.formats.amounts import AmountError, read_amount
from engine.formats.documents import line_of, mapping_at, note_others
from engine.formats.families import Family
from engine.formats.imported import Imported, Source
from engine.formats.notes import MOST_QUEUES, ImportFailure, Note, Notebook, Severity, gettext_noop
from engine.formats.objects import Fields, Manifests, Object
from engine.formats.ours import annotate, check_path, differing, name_of, rename, with_ours
from engine.formats.shares import without_shares
from engine.formats.weights import read_weight
from engine.formats.written import Written
from engine.queues import ROOT, WEIGHT_ONE, Queue, QueueTree, is_namespace
from engine.resources import PODS, Amounts, format_amount, is_resource_name

CONSUMER = "Consumer"
GROUP = "arbitrator.incubator.k8s.io"
"""The end of it: the proposal writes kuabe-arbitrator, its code kube-arbitrator."""
VERSION = "kube-arbitrator.incubator.k8s.io/v1"
HARD, RESERVED, PARENT, WEIGHT = "hard", "reserved", "parent", "weight"
FAMILY = Family(
    group=VERSION.partition("/")[0],
    versions=(VERSION.partition("/")[2],),
    resources={CONSUMER: "consumers"},
    anchor=CONSUMER,
    decided=lambda _one: (HARD, RESERVED, PARENT, WEIGHT),
    by_key=(HARD, RESERVED),
)
"""Of which a cluster keeps its tree."""
IMPLIED_ROOT = Queue(path=ROOT, parent_declared=True)
_REQUESTS = "requests."
_NOT_DIVIDED = re.compile(r"limits\..*|requests\.storage|count/.*")
"""Kept: nothing here is decided by them."""
_DEEPEST = 200


class _Read(NamedTuple):
    objects: dict[str, Object]
    native: dict[str, Queue]
    """Path -> what its object says itself, without our annotation."""
    queues: dict[str, Queue]


def read(text: str) -> Imported:
    """The tree of the Consumers in a text. Raises ImportFailure, with every error in it, for a text without any."""
    book = Notebook()
    manifests = Manifests(text)
    manifests.note_unnamed(book)
    found = _read(manifests, book)
    others = [one for one in manifests.objects if not _is_consumer(one)]
    for one in others:
        message = gettext_noop("%(kind)s %(name)s has no counterpart here; it is kept and written back.")
        book.add(Severity.INFO, "", one.line, message, kind=one.kind, name=one.name)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    root = {} if ROOT in found.queues else {ROOT: IMPLIED_ROOT}
    return Imported(
        form="consumers",
        tree=QueueTree([*root.values(), *found.queues.values()]),
        notes=tuple(book.notes),
        sources={path: Source(one.title, one.line) for path, one in found.objects.items()},
    )


def write(text: str, tree: QueueTree) -> Written:
    """A text of Consumers, empty for a new one, with its queues made those of ``tree``; ``read`` gives it back.

    Placement rules are left out, and all parents are declared as such. Raises ImportFailure for a text that ``read``
    refuses.
    """
    tree = QueueTree(map(without_shares, tree.queues.values()), tree.placement)
    manifests = Manifests(text, changing=True)
    found = _read(manifests, Notebook()) if text.strip() else _Read({}, {}, {})
    root = msgspec.structs.replace(tree[tree.root], parent_declared=True)
    implied = ROOT not in found.objects and root == IMPLIED_ROOT and not tree.is_leaf(tree.root)
    paths = [path for path in tree.walk() if path != tree.root or not implied]
    for path in set(found.objects) - set(paths):
        manifests.remove(found.objects[path])
    objects = {path: found.objects[path] for path in paths if path in found.objects}
    taken = {one.called for one in objects.values()}
    objects |= {path: manifests.add(_new(tree, path, taken)) for path in paths if path not in objects}
    for path in paths:
        _say(objects[path], tree[path], objects.get(tree[path].parent or ""))
    notes = tuple(_annotate(manifests, {path: objects[path] for path in paths}, tree))
    return Written(text=manifests.written(), notes=notes)


def _is_consumer(one: Object) -> bool:
    return one.kind == CONSUMER and one.group.endswith(GROUP)


def _read(manifests: Manifests, book: Notebook) -> _Read:
    """What they say. Raises ImportFailure where they form no tree; other errors are noted."""
    known = _known(manifests, book)
    below: dict[str, list[Object]] = {}
    for one in known.values():
        below.setdefault(_above(one), []).append(one)
    tops = below.get("", [])
    alone = len(tops) == 1 and name_of(tops[0]) == ROOT
    found: dict[str, Object] = {}
    pending = [(ROOT if alone else f"{ROOT}.{name_of(one)}", one) for one in reversed(tops)]
    while pending:
        path, one = pending.pop()
        check_path(path, one.called, one, one.line, found, book)
        found[path] = one
        if path.count(".") < _DEEPEST:
            pending += [(f"{path}.{name_of(child)}", child) for child in reversed(below.get(one.called, []))]
    placed = {id(one) for one in found.values()}
    for one in known.values():
        if id(one) not in placed:
            message = gettext_noop("%(name)s lies below itself.")
            book.add(Severity.ERROR, "", line_of(one.spec, PARENT), message, name=one.title)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    native = {path: _native(path, one, bool(below.get(one.called)), book) for path, one in found.items()}
    return _Read(found, native, {path: with_ours(found[path], queue, book) for path, queue in native.items()})


def _known(manifests: Manifests, book: Notebook) -> dict[str, Object]:
    """Every Consumer by what others call it. Raises ImportFailure."""
    known: dict[str, Object] = {}
    for one in filter(_is_consumer, manifests.objects):
        one.called = one.namespace or one.name
        if one.called in known:
            message = gettext_noop("%(kind)s %(name)s is given twice.")
            book.add(Severity.ERROR, "", one.line, message, kind=one.kind, name=one.called)
        known[one.called] = one
    for one in known.values():
        if _above(one) and _above(one) not in known:
            message = gettext_noop("There is no Consumer %(parent)s to be its parent.")
            book.add(Severity.ERROR, "", line_of(one.spec, PARENT), message, parent=_above(one))
    if not known:
        book.add(Severity.ERROR, "", None, gettext_noop("There is no Consumer of kube-arbitrator in it."))
    if len(known) > MOST_QUEUES:
        book.add(Severity.ERROR, "", None, gettext_noop("There are more than %(most)s queues."), most=str(MOST_QUEUES))
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return known


def _above(one: Object) -> str:
    return str(one.spec.get(PARENT) or "")


def _native(path: str, one: Object, holds: bool, book: Notebook) -> Queue:
    note_others(one.spec, {HARD, RESERVED, PARENT, WEIGHT}, path, book)
    return Queue(
        path=path,
        parent_declared=holds,
        namespaces=() if holds or not is_namespace(one.called) else (one.called,),
        guaranteed=_amounts(one.spec, RESERVED, path, book),
        max=_amounts(one.spec, HARD, path, book),
        weight=_weight(one.spec, path, book),
    )


def _weight(spec: Mapping[str, Any], path: str, book: Notebook) -> int:
    value = spec.get(WEIGHT)
    if value is None:
        return WEIGHT_ONE
    try:
        return read_weight(str(value))
    except AmountError as error:
        book.add(Severity.ERROR, path, line_of(spec, WEIGHT), error.message, **error.params)
        return WEIGHT_ONE


def spelled(resource: str) -> str:
    """What a resource is called in a Consumer: ``requests.cpu``."""
    return resource if resource in (PODS, "storage") else f"{_REQUESTS}{resource}"


def _our(name: str) -> str:
    return name.removeprefix(_REQUESTS)


def _amounts(spec: Mapping[str, Any], field: str, path: str, book: Notebook) -> Amounts:
    given = mapping_at(spec, field, path, book)
    amounts: Amounts = {}
    for name, value in given.items():
        line, resource = line_of(given, name), _our(str(name))
        if _NOT_DIVIDED.fullmatch(str(name)):
            message = gettext_noop("%(field)s has no counterpart here; it is kept and written back.")
            book.add(Severity.INFO, path, line, message, field=f"{field} {name}")
            continue
        if not is_resource_name(resource):
            message = gettext_noop("%(name)s is not the name of a resource.")
            book.add(Severity.ERROR, path, line, message, name=repr(resource))
        if resource in amounts:
            message = gettext_noop("%(field)s gives %(resource)s twice.")
            book.add(Severity.ERROR, path, line, message, field=field, resource=resource)
        try:
            amounts[resource] = read_amount(resource, str(value))
        except AmountError as error:
            book.add(Severity.ERROR, path, line, error.message, **error.params)
    return amounts


# Writing


def _new(tree: QueueTree, path: str, taken: set[str]) -> dict[str, Any]:
    """In the namespace that a leaf claims, else in one called as the queue, and named after it."""
    claims = tree[path].namespaces if tree.is_leaf(path) else ()
    wanted = claims[0] if len(claims) == 1 else tree[path].name
    name = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-") or "queue"
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}-{number}"
    taken.add(made)
    return {"apiVersion": VERSION, "kind": CONSUMER, "metadata": {"name": made, "namespace": made}, "spec": {}}


def _say(one: Object, queue: Queue, above: Object | None) -> None:
    rename(one, queue.name)
    if _above(one) != (above.called if above else ""):
        if above:
            one.own_spec()[PARENT] = above.called
        else:
            del one.spec[PARENT]
    for field, wanted in ((RESERVED, queue.guaranteed), (HARD, queue.max)):
        said = _amounts(one.spec, field, "", Notebook())
        if said != wanted:
            _merge(one.own_spec(), field, said, wanted)
    if queue.weight % WEIGHT_ONE == 0 and _weight(one.spec, "", Notebook()) != queue.weight:
        one.own_spec()[WEIGHT] = queue.weight // WEIGHT_ONE


def _merge(spec: Fields, field: str, said: Amounts, wanted: Amounts) -> None:
    given = spec.get(field)
    if given is None:
        given = spec[field] = CommentedMap()
    keys = {_our(str(name)): name for name in given if not _NOT_DIVIDED.fullmatch(str(name))}
    for resource in said:
        if resource not in wanted:
            del given[keys[resource]]
    for resource, amount in wanted.items():
        if said.get(resource) != amount:
            given[keys.get(resource, spelled(resource))] = format_amount(resource, amount)
    if not given:
        del spec[field]


def _annotate(manifests: Manifests, objects: Mapping[str, Object], tree: QueueTree) -> Iterator[Note]:
    """What the objects can't say goes into our annotation. Yields what that is, and what is left out altogether."""
    native = _read(manifests, Notebook()).native if objects else {}
    for path, one in objects.items():
        settings = differing(native[path], tree[path])
        if tree.is_leaf(path) != (not native[path].parent_declared):
            settings["parent"] = not tree.is_leaf(path)
        annotate(one, settings)
        if settings:
            message = gettext_noop("Consumers have nothing for %(settings)s: an annotation keeps it, for us alone.")
            params = {"settings": ", ".join(sorted(settings))}
            yield Note(severity=Severity.WARNING, path=path, line=None, message=message, params=params)
    if tree.placement:
        message = gettext_noop("Placement rules are left out: a Consumer is of its namespace.")
        yield Note(severity=Severity.WARNING, path="", line=None, message=message)
