"""What those may not change who change subtrees only: all outside, and what the tops of the subtrees are given."""

from collections.abc import Iterable, Iterator

from engine.formats.tree_json.diff import ChangeKind, QueueChange, Setting, changes
from engine.model.message import Message, gettext_noop
from engine.model.notes import DocumentPlace, Note, Severity
from engine.model.quantities import Amounts, format_amount, total
from engine.model.queue_paths import is_inside
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from scheduler_admin.accounts.scopes import Scope

FOREIGN = gettext_noop("This is outside the subtrees that you can change.")
LOST = gettext_noop("This would remove a queue that you can't change.")
GIVEN = gettext_noop("Only users who can change the parent queue can change this queue and its settings.")
CLAIMED = gettext_noop("You can't assign more namespaces to queues, because you can change only a subtree.")
NOT_THEIRS = gettext_noop(
    "You can't add former paths, because you can change only a subtree. Renaming or moving a queue adds them."
)
TEMPLATE = gettext_noop(
    "You can't change templates, because you can change only a subtree. A template can create any number of queues."
)
SHIELDED = gettext_noop(
    "You can't disable preemption, because you can change only a subtree. Other "
    "queues must be able to reclaim their guarantees there."
)
PROMISED = gettext_noop(
    "The guarantees below %(queue)s would total %(below)s %(resource)s. The total can't be more than %(given)s."
)


def outside(before: QueueTree, after: QueueTree, scope: Scope) -> list[Note]:
    """An error for each thing that changes though it is not the scope's to change. Unseen queues are not named."""
    if scope.everything:
        return []
    found = changes(before, after)
    foreign = [change for change in found if not scope.may_change(change.path)]
    notes = [_foreign(change, scope) for change in foreign if change.kind is not ChangeKind.REMOVED]
    lost = len(notes) < len(foreign) or any(one.former and not scope.may_change(one.former) for one in found)
    notes += [error("", LOST, "queues")] if lost else []
    notes += [error(path, NOT_THEIRS, "former_paths") for path in _renamed_to(before, after, scope)]
    notes += [error(path, CLAIMED, "namespaces") for path in _claiming(before, after, scope)]
    if scope.given:
        notes += [*_loosened(before, after, scope), *_promised(before, after, scope)]
    return notes


def beside(settings: Iterable[Setting], scope: Scope) -> list[Note]:
    """An error for each setting that differs beside the queues: it is of the whole tree."""
    return [] if scope.everything else [error("", FOREIGN, one.field) for one in settings]


def _foreign(change: QueueChange, scope: Scope) -> Note:
    return error(change.path, GIVEN if scope.has_path(change.path) else FOREIGN)


def _claiming(before: QueueTree, after: QueueTree, scope: Scope) -> list[str]:
    """Queues of a scope that claim namespaces, whosoever they are, that none of the scope's queues had before."""
    had = {name for path in before.queues if scope.has_path(path) for name in before[path].namespaces}
    queues = after.queues.values()
    return [queue.path for queue in queues if scope.has_path(queue.path) and not had.issuperset(queue.namespaces)]


def _renamed_to(before: QueueTree, after: QueueTree, scope: Scope) -> list[str]:
    """Queues of a scope with a former path outside of it that they did not have before: pods come by it."""
    had = {was for queue in before.queues.values() for was in queue.former_paths}
    own = [queue for queue in after.queues.values() if scope.has_path(queue.path)]
    return [queue.path for queue in own if any(not scope.has_path(was) for was in {*queue.former_paths} - had)]


def _loosened(before: QueueTree, after: QueueTree, scope: Scope) -> Iterator[Note]:
    """Settings by which a subtree would give others less than its top does."""
    for path, queue in after.queues.items():
        was = before.queues.get(path)
        if not scope.may_change(path):
            continue
        if queue.template != (was.template if was else None):
            yield error(path, TEMPLATE, "template")
        off = PreemptionPolicy.DISABLED
        if queue.preemption_policy is off and not (was and was.preemption_policy is off):
            yield error(path, SHIELDED, "preemption_policy")


def _promised(before: QueueTree, after: QueueTree, scope: Scope) -> Iterator[Note]:
    """Guarantees that come to more than the top of a subtree has: the nearest one counts, so it would be claimed."""
    for top in sorted(path for path in scope.given if path in before and path in after):
        had, has = _below(before, top), _below(after, top)
        for resource, below in sorted(has.items()):
            given = max(before[top].guaranteed.get(resource, 0), had.get(resource, 0))
            if below > given:
                yield from (
                    error(
                        path,
                        PROMISED,
                        DocumentPlace().at("guaranteed", resource).field,
                        queue=top,
                        resource=resource,
                        below=format_amount(resource, below),
                        given=format_amount(resource, given),
                    )
                    for path in _raised(before, after, top, resource)
                )


def _below(tree: QueueTree, path: str) -> Amounts:
    """The most that the queues below one can claim together, whichever of those in a line claim it."""
    return total(_most(tree, child) for child in tree.children[path])


def _most(tree: QueueTree, path: str) -> Amounts:
    own, below = tree[path].guaranteed, _below(tree, path)
    return {name: max(own.get(name, 0), below.get(name, 0)) for name in (*own, *below)}


def _raised(before: QueueTree, after: QueueTree, top: str, resource: str) -> list[str]:
    """The queues below a top that are guaranteed more of a resource than they were."""
    inside = [path for path in after.queues if path != top and is_inside(path, top)]
    had = {path: before[path].guaranteed.get(resource, 0) if path in before else 0 for path in inside}
    return [path for path in inside if after[path].guaranteed.get(resource, 0) > had[path]]


def error(path: str, message: str, field: str = "", **params: str) -> Note:
    """An error about a queue; without a path, about the tree."""
    return Note(severity=Severity.ERROR, path=path, line=None, message=Message(message, params), field=field)
