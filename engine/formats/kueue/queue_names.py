"""Mapping of the Cohorts and ClusterQueues of a text to queues: a Cohort is a parent, a ClusterQueue a leaf."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.formats.tree_json.queue_annotation import check_path, queue_name
from engine.formats.yaml.documents import closest_match, line_of
from engine.formats.yaml.object_list import Object, ObjectList
from engine.model.message import gettext_noop
from engine.model.notes import MOST_QUEUES, ImportFailure, NoteCollector, Severity
from engine.model.queue_tree import ROOT
from engine.model.quota import QuotaStatus

GROUP = "kueue.x-k8s.io"
COHORT, CLUSTER_QUEUE, LOCAL_QUEUE = "Cohort", "ClusterQueue", "LocalQueue"
VERSIONS = ("v1alpha1", "v1beta1", "v1beta2")
_PARENT_FIELDS = {
    (COHORT, "v1alpha1"): "parent",
    (COHORT, "v1beta1"): "parentName",
    (COHORT, "v1beta2"): "parentName",
    (CLUSTER_QUEUE, "v1alpha1"): "cohort",
    (CLUSTER_QUEUE, "v1beta1"): "cohort",
    (CLUSTER_QUEUE, "v1beta2"): "cohortName",
}
FIELDS = {
    COHORT: frozenset({"resourceGroups", "fairSharing"}),
    CLUSTER_QUEUE: frozenset(
        {
            *("resourceGroups", "queueingStrategy", "namespaceSelector", "flavorFungibility", "preemption"),
            *("admissionChecks", "admissionChecksStrategy", "admissionScope", "stopPolicy", "fairSharing"),
            "concurrentAdmissionPolicy",
        }
    ),
}
"""Fields that a spec has in every version, apart from the field that names the parent Cohort."""
LOCAL_FIELDS = frozenset({"clusterQueue", "stopPolicy", "fairSharing"})
"""Fields of the spec of a LocalQueue."""
_DEEPEST = 200
"""Deepest nesting of cohorts; the path of a deeper queue would be too long in any case."""


class KueueQueue(NamedTuple):
    """A queue of the text. ``object`` is None for a Cohort that other objects only name."""

    kind: str
    name: str
    object: Object | None
    line: int | None


def is_queue(obj: Object) -> bool:
    """Return whether an object is a Cohort or a ClusterQueue of Kueue."""
    return obj.group == GROUP and obj.kind in {COHORT, CLUSTER_QUEUE}


def parent_field(obj: Object) -> str:
    """Return the name of the spec field that names the parent Cohort, which depends on kind and version."""
    return _PARENT_FIELDS[obj.kind, obj.version]


def note_dropped(obj: Object, path: str, book: NoteCollector) -> set[str]:
    """Return the fields of a spec that its version does not have, and warn about each: the API server drops them."""
    known = FIELDS[obj.kind] | {parent_field(obj)}
    dropped = {str(name) for name in obj.spec} - known
    for name in sorted(dropped):
        other = name in {field for (kind, _), field in _PARENT_FIELDS.items() if kind == obj.kind}
        near = parent_field(obj) if other else book.is_suggesting and closest_match(name, known)
        params = {"field": name, "kind": obj.kind, "version": obj.version}
        if near:
            message = gettext_noop(
                "%(kind)s %(version)s has no field %(field)s, so the API server drops it. Did you mean %(near)s?"
            )
            book.add(Severity.WARNING, path, line_of(obj.spec, name), message, near=near, **params)
        else:
            message = gettext_noop("%(kind)s %(version)s has no field %(field)s, so the API server drops it.")
            book.add(Severity.WARNING, path, line_of(obj.spec, name), message, **params)
    return dropped


def cohort_above(obj: Object) -> str:
    """Return the name of the parent Cohort; empty if there is none."""
    return str(obj.spec.get(parent_field(obj)) or "")


def place_queues(manifests: ObjectList, book: NoteCollector) -> dict[str, KueueQueue]:
    """Return the queues of a text by path, parents before children.

    The root is included only if a queue of that name is the only one at the top. Raise ImportFailure if the objects
    form no tree.
    """
    known = _known(manifests, book)
    below: dict[str, list[KueueQueue]] = {}
    for queue in known.values():
        below.setdefault(cohort_above(queue.object) if queue.object else "", []).append(queue)
    tops = below.get("", [])
    is_single_root = len(tops) == 1 and tops[0].name == ROOT
    queues: dict[str, KueueQueue] = {}
    pending = [(ROOT if is_single_root else f"{ROOT}.{_name(queue)}", queue) for queue in reversed(tops)]
    while pending:
        path, queue = pending.pop()
        check_path(path, queue.name, queue.object, queue.line, queues, book)
        queues[path] = queue
        if queue.kind == COHORT and path.count(".") < _DEEPEST:
            pending += [(f"{path}.{_name(child)}", child) for child in reversed(below.get(queue.name, []))]
    placed = {id(queue) for queue in queues.values()}
    for queue in known.values():
        if id(queue) not in placed:
            message = gettext_noop("Cohort %(name)s is its own ancestor. Remove the cycle.")
            book.add(
                Severity.ERROR, "", queue.line, message, name=cohort_above(queue.object) if queue.object else queue.name
            )
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return queues


def _known(manifests: ObjectList, book: NoteCollector) -> dict[tuple[str, str], KueueQueue]:
    """Return every Cohort and ClusterQueue by kind and name, including Cohorts that other objects only name.

    Raise ImportFailure if an object is invalid or none is found.
    """
    known: dict[tuple[str, str], KueueQueue] = {}
    for obj in filter(is_queue, manifests.objects):
        if obj.version not in VERSIONS:
            message = gettext_noop("Kueue API version %(version)s is not supported. Supported versions: %(known)s.")
            book.add(Severity.ERROR, "", obj.line, message, version=repr(obj.version), known=", ".join(VERSIONS))
        elif (obj.kind, obj.name) in known:
            message = gettext_noop("%(kind)s %(name)s is defined twice.")
            book.add(Severity.ERROR, "", obj.line, message, kind=obj.kind, name=obj.name)
        elif obj.name:
            known[obj.kind, obj.name] = KueueQueue(obj.kind, obj.name, obj, obj.line)
    for queue in list(known.values()):
        if queue.object and (above := cohort_above(queue.object)):
            line = line_of(queue.object.spec, parent_field(queue.object))
            known.setdefault((COHORT, above), KueueQueue(COHORT, above, None, line))
    if not known and not book.failed:
        book.add(Severity.ERROR, "", None, gettext_noop("The document contains no Kueue ClusterQueue or Cohort."))
    if len(known) > MOST_QUEUES:
        book.add(Severity.ERROR, "", None, gettext_noop("There are more than %(most)s queues."), most=str(MOST_QUEUES))
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return known


def queue_paths(standings: Iterable[QuotaStatus]) -> dict[tuple[bool, str], str]:
    """Return the path of each Cohort and ClusterQueue, by whether it is a Cohort and by its name.

    The paths are those of ``place_queues``. Cohorts must come before their members.
    """
    statuses = tuple(standings)
    tops = [status for status in statuses if not status.above]
    is_single_root = len(tops) == 1 and tops[0].name == ROOT
    paths: dict[tuple[bool, str], str] = {}
    for status in statuses:
        above = paths[True, status.above] if status.above else ROOT
        name = status.called or status.name.replace(".", "_")
        paths[status.cohort, status.name] = ROOT if is_single_root and not status.above else f"{above}.{name}"
    return paths


def _name(queue: KueueQueue) -> str:
    return queue_name(queue.object) if queue.object else queue.name.replace(".", "_")


def local_queues(manifests: ObjectList) -> Iterator[Object]:
    """Yield the LocalQueues of the text."""
    return (obj for obj in manifests.objects if (obj.group, obj.kind) == (GROUP, LOCAL_QUEUE))


def target_cluster_queue(local_queue: Object) -> str:
    """Return the name of the ClusterQueue that a LocalQueue points to."""
    return str(local_queue.spec.get("clusterQueue") or "")


def namespace_of(obj: Object) -> str:
    """Return the namespace of an object; the default namespace, as for kubectl, if the object names none."""
    return obj.namespace or "default"
