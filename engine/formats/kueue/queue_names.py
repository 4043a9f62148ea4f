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


def is_queue(one: Object) -> bool:
    """Return whether an object is a Cohort or a ClusterQueue of Kueue."""
    return one.group == GROUP and one.kind in {COHORT, CLUSTER_QUEUE}


def parent_field(one: Object) -> str:
    """Return the name of the spec field that names the parent Cohort, which depends on kind and version."""
    return _PARENT_FIELDS[one.kind, one.version]


def note_dropped(one: Object, path: str, book: NoteCollector) -> set[str]:
    """Return the fields of a spec that its version does not have, and warn about each: the API server drops them."""
    known = FIELDS[one.kind] | {parent_field(one)}
    dropped = {str(name) for name in one.spec} - known
    for name in sorted(dropped):
        other = name in {field for (kind, _), field in _PARENT_FIELDS.items() if kind == one.kind}
        near = parent_field(one) if other else closest_match(name, known)
        params = {"field": name, "kind": one.kind, "version": one.version}
        if near:
            message = gettext_noop(
                "%(kind)s %(version)s has no field %(field)s, so the API server drops it. Did you mean %(near)s?"
            )
            book.add(Severity.WARNING, path, line_of(one.spec, name), message, near=near, **params)
        else:
            message = gettext_noop("%(kind)s %(version)s has no field %(field)s, so the API server drops it.")
            book.add(Severity.WARNING, path, line_of(one.spec, name), message, **params)
    return dropped


def cohort_above(one: Object) -> str:
    """Return the name of the parent Cohort; empty if there is none."""
    return str(one.spec.get(parent_field(one)) or "")


def place_queues(manifests: ObjectList, book: NoteCollector) -> dict[str, KueueQueue]:
    """Return the queues of a text by path, parents before children.

    The root is included only if a queue of that name is the only one at the top. Raise ImportFailure if the objects
    form no tree.
    """
    known = _known(manifests, book)
    below: dict[str, list[KueueQueue]] = {}
    for one in known.values():
        below.setdefault(cohort_above(one.object) if one.object else "", []).append(one)
    tops = below.get("", [])
    alone = len(tops) == 1 and tops[0].name == ROOT
    found: dict[str, KueueQueue] = {}
    pending = [(ROOT if alone else f"{ROOT}.{_name(one)}", one) for one in reversed(tops)]
    while pending:
        path, one = pending.pop()
        check_path(path, one.name, one.object, one.line, found, book)
        found[path] = one
        if one.kind == COHORT and path.count(".") < _DEEPEST:
            pending += [(f"{path}.{_name(child)}", child) for child in reversed(below.get(one.name, []))]
    for one in known.values():
        if not any(one is other for other in found.values()):
            message = gettext_noop("Cohort %(name)s lies below itself.")
            book.add(Severity.ERROR, "", one.line, message, name=cohort_above(one.object) if one.object else one.name)
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return found


def _known(manifests: ObjectList, book: NoteCollector) -> dict[tuple[str, str], KueueQueue]:
    """Return every Cohort and ClusterQueue by kind and name, including Cohorts that other objects only name.

    Raise ImportFailure if an object is invalid or none is found.
    """
    known: dict[tuple[str, str], KueueQueue] = {}
    for one in filter(is_queue, manifests.objects):
        if one.version not in VERSIONS:
            message = gettext_noop("%(version)s of Kueue is not known here. Known are: %(known)s.")
            book.add(Severity.ERROR, "", one.line, message, version=repr(one.version), known=", ".join(VERSIONS))
        elif (one.kind, one.name) in known:
            message = gettext_noop("%(kind)s %(name)s is given twice.")
            book.add(Severity.ERROR, "", one.line, message, kind=one.kind, name=one.name)
        elif one.name:
            known[one.kind, one.name] = KueueQueue(one.kind, one.name, one, one.line)
    for placed_one in list(known.values()):
        if placed_one.object and (above := cohort_above(placed_one.object)):
            line = line_of(placed_one.object.spec, parent_field(placed_one.object))
            known.setdefault((COHORT, above), KueueQueue(COHORT, above, None, line))
    if not known and not book.failed:
        book.add(Severity.ERROR, "", None, gettext_noop("There is no ClusterQueue and no Cohort of Kueue in it."))
    if len(known) > MOST_QUEUES:
        book.add(Severity.ERROR, "", None, gettext_noop("There are more than %(most)s queues."), most=str(MOST_QUEUES))
    if book.failed:
        raise ImportFailure(tuple(book.notes))
    return known


def queue_paths(standings: Iterable[QuotaStatus]) -> dict[tuple[bool, str], str]:
    """Return the path of each Cohort and ClusterQueue, by whether it is a Cohort and by its name.

    The paths are those of ``place_queues``. Cohorts must come before their members.
    """
    every = tuple(standings)
    tops = [one for one in every if not one.above]
    alone = len(tops) == 1 and tops[0].name == ROOT
    found: dict[tuple[bool, str], str] = {}
    for one in every:
        above = found[True, one.above] if one.above else ROOT
        name = one.called or one.name.replace(".", "_")
        found[one.cohort, one.name] = ROOT if alone and not one.above else f"{above}.{name}"
    return found


def _name(one: KueueQueue) -> str:
    return queue_name(one.object) if one.object else one.name.replace(".", "_")


def local_queues(manifests: ObjectList) -> Iterator[Object]:
    """Yield the LocalQueues of the text."""
    return (one for one in manifests.objects if (one.group, one.kind) == (GROUP, LOCAL_QUEUE))


def target_cluster_queue(one: Object) -> str:
    """Return the name of the ClusterQueue that a LocalQueue points to."""
    return str(one.spec.get("clusterQueue") or "")


def namespace_of(one: Object) -> str:
    """Return the namespace of an object; the default namespace, as for kubectl, if the object names none."""
    return one.namespace or "default"
