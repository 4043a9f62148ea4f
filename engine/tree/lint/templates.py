"""Checks for templates of dynamic leaves that have no effect, or contradict the queues around them."""

from collections.abc import Iterator

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.quantities import format_amount
from engine.model.queue_tree import PreemptionPolicy, QueueTree, Settings
from engine.tree.lint.dynamic import may_grow
from engine.tree.lint.found import make_note


def templates(tree: QueueTree) -> Iterator[Note]:
    """Yield remarks on each template, compared with the queue that has it and those above.

    Source: YuniKorn's queues (setTemplate, applyTemplate), whose configuration does not check templates.
    """
    for path in tree.walk():
        template = tree[path].template
        if template is None:
            continue
        if tree.is_leaf(path):
            message = gettext_noop(
                "A template has no effect on a leaf queue: it applies to queues that are created below a queue."
            )
            remedy = gettext_noop("Remove it, or let the queue contain queues.")
            yield make_note(Severity.WARNING, path, message, remedy, "template")
            continue
        yield from _unused(tree, path)
        yield from _hidden(tree, path)
        yield from _amounts(tree, path, template)
        yield from _fenced(path, template)


def _unused(tree: QueueTree, path: str) -> Iterator[Note]:
    covered = {below for below in tree.walk(path) if _nearest(tree, below) == path}
    if not any(may_grow(tree, below) for below in covered if not tree.is_leaf(below)):
        message = gettext_noop("Its template has no effect: no placement rule creates queues below it.")
        remedy = gettext_noop("Add a placement rule with “create”, or remove the template.")
        yield make_note(Severity.WARNING, path, message, remedy, "template")


def _nearest(tree: QueueTree, path: str) -> str | None:
    return next((above for above in tree.lineage(path) if tree[above].template is not None), None)


def _hidden(tree: QueueTree, path: str) -> Iterator[Note]:
    other = _nearest(tree, tree[path].parent or path)
    if other is not None and other != path and tree[other].template != tree[path].template:
        message = gettext_noop("Its template replaces that of %(queue)s completely.")
        remedy = gettext_noop("Repeat the settings of the template of %(queue)s that should still apply.")
        yield make_note(Severity.INFO, path, message, remedy, "template", queue=other)


def _amounts(tree: QueueTree, path: str, template: Settings) -> Iterator[Note]:
    for resource, promised in template.guaranteed.items():
        limit_of_template = template.max.get(resource)
        capped = next(
            (above for above in tree.lineage(path) if tree[above].max.get(resource, promised) < promised), None
        )
        params = {"resource": resource, "guaranteed": format_amount(resource, promised)}
        if limit_of_template is not None and promised > limit_of_template:
            message = gettext_noop(
                "Its template guarantees %(guaranteed)s %(resource)s, above the template’s own max of "
                "%(max)s, so it can’t be fulfilled."
            )
            remedy = gettext_noop("Lower the guarantee in the template, or raise its max to %(guaranteed)s.")
            params["max"] = format_amount(resource, limit_of_template)
        elif capped is not None:
            message = gettext_noop(
                "Its template guarantees %(guaranteed)s %(resource)s, above the max of %(queue)s, "
                "%(max)s, so it can’t be fulfilled."
            )
            remedy = gettext_noop("Lower the guarantee in the template, or raise the max of %(queue)s.")
            params |= {"queue": capped, "max": format_amount(resource, tree[capped].max[resource])}
        elif promised > (limit := tree[path].guaranteed.get(resource, promised)):
            message = gettext_noop(
                "Its template guarantees %(guaranteed)s %(resource)s to each leaf queue, more than the "
                "queue’s own guarantee of %(limit)s."
            )
            remedy = gettext_noop("Raise the guarantee of the queue, or lower the one in the template.")
            params["limit"] = format_amount(resource, limit)
        else:
            continue
        yield make_note(Severity.WARNING, path, message, remedy, "template", "guaranteed", resource, **params)


def _fenced(path: str, template: Settings) -> Iterator[Note]:
    if template.preemption_policy is PreemptionPolicy.FENCE:
        message = gettext_noop(
            "Its template gives each leaf queue its own fence, so none of them can preempt. Their "
            "guarantees help only while room is free."
        )
        remedy = gettext_noop("If they should preempt, set the fence on the queue itself instead.")
        yield make_note(Severity.INFO, path, message, remedy, "template", "preemption_policy")
