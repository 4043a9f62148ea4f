"""Finds the leaf of a pod by the placement rules of a tree, and adds the dynamic leaves of pods to the tree.

Source: YuniKorn's placement rules (its documentation, and its packages scheduler/placement and objects): a filter, then
the parent's rule, then the name; dots in names become ``_dot_``; a rule that names a parent is skipped; a rule that
fails rejects the pod; root.default comes last. There is one difference: whether a queue exists is determined by the
tree as it is written, so that the leaf of a pod never depends on other pods. If a pod names a queue by a former path,
the queue that had this path is meant. Access lists are not read.
"""

from collections.abc import Iterable
from typing import NamedTuple

from engine.model.go_regexp import matches
from engine.model.placement_rules import NAMESPACE_TAG, PARENT_QUEUE_TAG, Filter, Rule, RuleName
from engine.model.queue_tree import LONGEST_PATH, ROOT, Queue, QueueTree, Settings, is_queue_name

DEFAULT_LEAF = f"{ROOT}.default"
"""The leaf of pods to which no rule gives a leaf, if the tree has it."""
DEFAULT_USER = "nobody"
"""The user of a pod that does not name its user."""
_EXPRESSION = frozenset("^$*+?()[{}|")
"""Characters that mark an expression, as no name has them. Source: SpecialRegExp of YuniKorn's configuration."""


class Submission(NamedTuple):
    """The properties of a pod that placement rules look at."""

    queue: str = ""
    """The pod's queue label."""
    user: str = ""
    """The user who submitted the pod; empty: DEFAULT_USER."""
    groups: tuple[str, ...] = ()
    namespace: str = ""
    parent_queue: str = ""
    """The queue that the annotation of the namespace names."""

    def tag(self, name: str) -> str:
        """Return the value of a tag; empty if the pod does not have it."""
        return {NAMESPACE_TAG: self.namespace, PARENT_QUEUE_TAG: self.parent_queue}.get(name.lower(), "")


class _RejectedError(Exception):
    """A rule failed, so that the pod has no queue, whatever other rules say."""


def leaf_for(tree: QueueTree, pod: Submission) -> str | None:
    """Return the leaf that the tree's rules give, written or dynamic; None if they give none.

    The new names of a dynamic leaf are in lower case. The leaf need not be in the tree: see ``add_dynamic_queues``.
    """
    try:
        for rule in tree.placement:
            path = _given(rule, tree, pod)
            known = tree.written.get(path.lower()) if path else None
            if path and known is None:
                return _new_leaf(tree, path)
            if known and tree.is_leaf(known):
                return known
    except _RejectedError:
        return None
    known = tree.leaf_by_namespace.get(pod.namespace) or tree.written.get(DEFAULT_LEAF)
    return known if known and tree.is_leaf(known) else None


def add_dynamic_queues(tree: QueueTree, leaves: Iterable[str]) -> QueueTree:
    """Return the tree with these leaves, and the parents that they need, added as dynamic queues where it lacks them.

    They are added in order; a leaf that would lie below another leaf, or that is a parent by now, is left out. The
    settings of a leaf come from the template of the nearest queue above that has one; a parent has no settings. Source:
    NewDynamicQueue, addChildQueue and applyTemplate of YuniKorn's queues.
    """
    added: dict[str, Queue] = {}
    for leaf in leaves:
        names = leaf.split(".")
        above = [".".join(names[:depth]) for depth in range(1, len(names))]
        known = [added.get(path) or tree.queues.get(path) for path in above]
        stopped = any(one is not None and not _holds_queues(tree, one) for one in known)
        if stopped or leaf in added or leaf in tree:
            continue
        for path, one in zip(above, known, strict=True):
            if one is None:
                added[path] = Queue(path=path, parent_declared=True, dynamic=True)
        added[leaf] = _from_template(leaf, template_of(tree, leaf))
    return QueueTree([*tree.queues.values(), *added.values()], tree.placement) if added else tree


def template_of(tree: QueueTree, path: str) -> Settings:
    """Return the settings of a dynamic leaf with this path: the nearest template above, or else no settings."""
    above = path
    while "." in above:
        above = above.rpartition(".")[0]
        queue = tree.queues.get(above)
        if queue is not None and queue.template is not None:
            return queue.template
    return Settings()


def is_expression(name: str) -> bool:
    """Return whether the only entry of a filter is an expression rather than a name."""
    return not _EXPRESSION.isdisjoint(name)


def _holds_queues(tree: QueueTree, queue: Queue) -> bool:
    """Return whether queues may be below a queue.

    With placement rules the root is never a leaf, even while it holds no queues.
    """
    return queue.path == tree.root or queue.parent_declared or bool(tree.children.get(queue.path))


def _from_template(path: str, template: Settings) -> Queue:
    return Queue(path=path, dynamic=True, **{field: getattr(template, field) for field in template.__struct_fields__})


def _given(rule: Rule, tree: QueueTree, pod: Submission) -> str | None:
    """Return the path that a rule gives, or None if it gives none. Raises _RejectedError."""
    name = _name(rule, pod)
    if not name or not _allows(rule.filter, pod):
        return None
    path = name
    if rule.name is RuleName.USER or not name.startswith(f"{ROOT}."):
        above = _above(rule.parent, tree, pod) if rule.parent else ROOT
        if above is None:
            return None
        path = f"{above}.{name if rule.name is RuleName.FIXED else name.replace('.', '_dot_')}"
    if rule.name is RuleName.PROVIDED:
        path = tree.now(path)
    if len(path) > LONGEST_PATH or not all(is_queue_name(part) for part in path.split(".")):
        raise _RejectedError
    return path if rule.create or path.lower() in tree.written else None


def _name(rule: Rule, pod: Submission) -> str:
    match rule.name:
        case RuleName.PROVIDED:
            return pod.queue
        case RuleName.USER:
            return pod.user or DEFAULT_USER
        case RuleName.TAG:
            return pod.tag(rule.value)
        case RuleName.FIXED:
            return rule.value.lower()


def _above(rule: Rule, tree: QueueTree, pod: Submission) -> str | None:
    path = _given(rule, tree, pod)
    known = tree.written.get(path.lower()) if path else None
    if known and tree.is_leaf(known):
        raise _RejectedError
    return path


def _new_leaf(tree: QueueTree, path: str) -> str | None:
    """Return the path with names as written up to where it leaves the tree, or None where nothing may be below."""
    names = path.lower().split(".")
    for depth in range(len(names) - 1, 0, -1):
        known = tree.written.get(".".join(names[:depth]))
        if known is not None:
            sound = _holds_queues(tree, tree[known]) and ROOT not in names[1:]
            return ".".join([known, *names[depth:]]) if sound else None
    return None


def _allows(whom: Filter, pod: Submission) -> bool:
    """Return whether a filter admits a pod, by its user first, then by its groups.

    Source: YuniKorn's Filter.allowUser. An allowing filter that lists nobody admits everybody, a denying one nobody.
    """
    if not whom.users and not whom.groups:
        return not whom.deny
    listed = _lists(whom.users, pod.user or DEFAULT_USER) or any(_lists(whom.groups, group) for group in pod.groups)
    return listed != whom.deny


def _lists(names: tuple[str, ...], name: str) -> bool:
    if len(names) == 1 and is_expression(names[0]):
        return matches(names[0], name)
    return name in names
