"""kube-arbitrator's Consumers <-> QueueTree. What has no field here is kept.

A Consumer is the leaf of its namespace: the one that it is in, else the one that it is named after. ``hard`` is max,
``reserved`` guaranteed, ``weight`` a whole number; ``cpu`` and ``requests.cpu`` are one. One that others name as
``spec.parent`` is a parent.

Source: the proposal of k8s-arbitrator; the hierarchy is from its list of what was to come.
"""

import re
from collections.abc import Mapping
from typing import Any

from engine.formats import parented_objects
from engine.formats.import_result import Imported
from engine.formats.resource_lists import read_quantities, write_quantities
from engine.formats.tree_json.amounts import AmountError
from engine.formats.tree_json.weights import read_weight
from engine.formats.tree_objects import Family
from engine.formats.written_document import Written
from engine.formats.yaml.documents import line_of, note_others
from engine.formats.yaml.object_list import Object
from engine.model.notes import Notebook, Severity, gettext_noop
from engine.model.quantities import PODS
from engine.model.queue_tree import WEIGHT_ONE, Queue, QueueTree, is_namespace

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
_DEFAULTS = "defaults"
_REQUESTS = "requests."
_NOT_DIVIDED = re.compile(r"limits\..*|requests\.storage|count/.*")
"""Kept: nothing here is decided by them."""


def read(text: str) -> Imported:
    """The tree of the Consumers in a text. Raises ImportFailure, with every error in it, for a text without any."""
    return parented_objects.read(_SYSTEM, text)


def write(text: str, tree: QueueTree) -> Written:
    """As engine.formats.parented_objects.write."""
    return parented_objects.write(_SYSTEM, text, tree)


def _native(one: Object, path: str, holds: bool, book: Notebook) -> Queue:
    note_others(one.spec, {HARD, RESERVED, PARENT, WEIGHT}, path, book)
    if one.name == _DEFAULTS and not one.namespace:
        message = gettext_noop(
            "A Consumer %(name)s without a namespace is read as the one of the namespace %(name)s. In the proposal "
            "each namespace has a Consumer that is called so: say which one this is of."
        )
        book.add(Severity.WARNING, path, one.line, message, name=_DEFAULTS)
    return Queue(
        path=path,
        parent_declared=holds,
        namespaces=() if holds or not is_namespace(one.called) else (one.called,),
        guaranteed=read_quantities(one.spec, RESERVED, path, book, _our),
        max=read_quantities(one.spec, HARD, path, book, _our),
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


def _our(name: str) -> str | None:
    return None if _NOT_DIVIDED.fullmatch(name) else name.removeprefix(_REQUESTS)


# Writing


def _new(name: str) -> dict[str, Any]:
    """In the namespace that is called as it is itself."""
    return {"apiVersion": VERSION, "kind": CONSUMER, "metadata": {"name": name, "namespace": name}, "spec": {}}


def _say(one: Object, queue: Queue) -> None:
    for field, wanted in ((RESERVED, queue.guaranteed), (HARD, queue.max)):
        if wanted or field in one.spec:
            write_quantities(one.own_spec(), field, wanted, _our, spelled)
    if queue.weight % WEIGHT_ONE == 0 and _weight(one.spec, "", Notebook()) != queue.weight:
        one.own_spec()[WEIGHT] = queue.weight // WEIGHT_ONE


_SYSTEM = parented_objects.System(
    form="consumers",
    parent=PARENT,
    is_queue=lambda one: one.kind == CONSUMER and one.group.endswith(GROUP),
    called=lambda one: one.namespace or one.name,
    native=_native,
    say=_say,
    new=_new,
    words=parented_objects.FormatMessages(
        none=gettext_noop("There is no Consumer of kube-arbitrator in it."),
        orphan=gettext_noop("There is no Consumer %(parent)s to be its parent."),
        unsaid=gettext_noop("Consumers have nothing for %(settings)s: an annotation keeps it, for us alone."),
        unplaced=gettext_noop("Placement rules are left out: a Consumer is of its namespace."),
    ),
)
