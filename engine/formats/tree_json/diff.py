"""The differences between two trees, queue by queue, with amounts as people type them."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from engine.formats.tree_json.document import write_queue
from engine.formats.tree_json.percentages import FIELDS, format_share, shares_of
from engine.model.message import After, Before, Message, Topic, gettext_noop
from engine.model.queue_tree import Queue, QueueTree, write_weight

_NOTHING = "{}"
"""Text of a template that exists but sets nothing."""


class ChangeKind(StrEnum):
    """The kind of change to a queue."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    """The queue has another path; its settings may have changed as well."""
    CHANGED = "changed"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of a queue that differs. An empty text means that the setting is not set."""

    field: str
    """Name of the setting in the product's own format: ``guaranteed``, ``delay``."""
    resource: str = ""
    """Resource of ``guaranteed`` and ``max``; for ``template``, the setting inside it: ``guaranteed cpu``."""
    before: str = ""
    after: str = ""


class QueueChange(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that differs between two trees, with its changed settings."""

    kind: ChangeKind
    path: str
    """Path after the change; for a removed queue, its path before."""
    former: str = ""
    """Path before the change, for a moved queue."""
    settings: tuple[Setting, ...] = ()
    """Changed settings; for an added queue all of its settings, for a removed queue none."""


def changes(before: QueueTree, after: QueueTree, moved: Mapping[str, str] | None = None) -> tuple[QueueChange, ...]:
    """Return the changes from ``before`` to ``after``, in the order of ``after``; removed queues come last.

    ``moved``, path after -> path before, identifies queues that have another path; without it, former paths identify
    them. All other new and missing paths count as added and removed. A queue below a moved queue is not reported as
    moved.
    """
    former = {path: path for path in after.walk() if path in before.queues}
    moved = renamed_paths(before, after) if moved is None else moved
    former |= {path: former_path for path, former_path in moved.items() if path in after and former_path in before}
    queues_before, queues_after = before.queues, after.queues
    differing = [
        path for path in after.walk() if former.get(path) != path or queues_before[path] != queues_after[path]
    ]  # usually few
    changed = [_change(before, after, path, former) for path in differing]
    removed_paths = set(before.queues) - set(former.values())
    removed = [QueueChange(kind=ChangeKind.REMOVED, path=path) for path in before.walk() if path in removed_paths]
    return tuple(change for change in (*changed, *removed) if change is not None)


def renamed_paths(before: QueueTree, after: QueueTree) -> dict[str, str]:
    """Return path after -> path before, for the queues that the former paths of either tree identify as the same."""
    removed = [path for path in before.walk() if path not in after]
    new = {path for path in after.walk() if path not in before}
    renamed: dict[str, str] = {}
    for former_path in removed:
        if (new_path := after.now(former_path)) in new:
            renamed.setdefault(new_path, former_path)
    for new_path in sorted(new - renamed.keys()):
        former_path = before.now(new_path)
        if former_path in before and former_path not in after and former_path not in renamed.values():
            renamed[new_path] = former_path
    return renamed


def with_former_paths(before: QueueTree, after: QueueTree) -> QueueTree:
    """Return ``after`` with each queue's path in ``before`` added to its former paths, where that path differs."""
    paths = renamed_paths(before, after)
    for path in after.walk():
        if (was := paths.get(path)) is not None and after.now(was) != path:
            queue = after[path]
            queue = msgspec.structs.replace(queue, former_paths=(*queue.former_paths, was))
            after = QueueTree((after.queues | {path: queue}).values(), after.placement, after.capacity)
    return after


def _change(before: QueueTree, after: QueueTree, path: str, former: Mapping[str, str]) -> QueueChange | None:
    former_path = former.get(path)
    if former_path is None:
        return QueueChange(kind=ChangeKind.ADDED, path=path, settings=_settings({}, _texts(after[path])))
    settings = _settings(_texts_with_weight(before[former_path]), _texts_with_weight(after[path]))
    parent, parent_was = after[path].parent, before[former_path].parent
    is_in_place = (
        after[path].name == before[former_path].name and (former.get(parent) if parent else None) == parent_was
    )
    if not is_in_place:
        differing = {*after[path].former_paths} ^ {*before[former_path].former_paths}
        if differing <= {former_path, path}:  # the move already implies it
            settings = tuple(setting for setting in settings if setting.field != "former_paths")
        return QueueChange(kind=ChangeKind.MOVED, path=path, former=former_path, settings=settings)
    return QueueChange(kind=ChangeKind.CHANGED, path=path, settings=settings) if settings else None


def _settings(before: Mapping[tuple[str, str], str], after: Mapping[tuple[str, str], str]) -> tuple[Setting, ...]:
    keys = [*after, *(key for key in before if key not in after)]
    return tuple(
        Setting(field=field, resource=resource, before=before.get(key, ""), after=after.get(key, ""))
        for key in keys
        if before.get(key) != after.get(key)
        for field, resource in [key]
    )


def _texts(queue: Queue) -> dict[tuple[str, str], str]:
    """Return the text of every setting that is set, by field and resource."""
    texts: dict[tuple[str, str], str] = {}
    for field, value in write_queue(queue).items():
        if field != "path":
            texts |= {(field, part): text for part, text in parts(value)}
    return texts | _shares(queue)


def _texts_with_weight(queue: Queue) -> dict[tuple[str, str], str]:
    """Return the texts of all settings, with the weight even if it is 1, so that a changed weight shows both values."""
    return _texts(queue) | {("weight", ""): write_weight(queue.weight)}


def _shares(queue: Queue) -> dict[tuple[str, str], str]:
    """Return each share with its resulting amount, by field and resource.

    The amount alone may change when the queue above changes.
    """
    shares = {(field, name): format_share(queue, field, name) for field in FIELDS for name in shares_of(queue, field)}
    if (template := queue.template) is None:
        return shares
    return shares | {
        ("template", f"{field} {name}"): format_share(template, field, name)
        for field in FIELDS
        for name in shares_of(template, field)
    }


def parts(value: object, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the parts of a setting in the product's own format: amounts by resource, a template also by setting."""
    if not isinstance(value, dict):
        yield above, _text(value)
        return
    if not value:
        yield above, _NOTHING
    for name, inner in value.items():
        yield from parts(inner, f"{above} {name}".strip())


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value)


def describe_change(change: QueueChange) -> tuple[Message, ...]:
    """Describe a change in sentences: first what happened to the queue, then each changed setting."""
    queue = Topic(change.path)
    settings = tuple(_sentence(queue, setting) for setting in change.settings)
    match change.kind:
        case ChangeKind.ADDED if change.settings:
            added_settings = ", ".join(f"{label(setting)} {setting.after}" for setting in change.settings)
            return (
                Message(gettext_noop("%(queue)s added: %(settings)s"), {"queue": queue, "settings": added_settings}),
            )
        case ChangeKind.ADDED:
            return (Message(gettext_noop("%(queue)s added"), {"queue": queue}),)
        case ChangeKind.REMOVED:
            return (Message(gettext_noop("%(queue)s removed"), {"queue": queue}),)
        case ChangeKind.MOVED:
            moved = Message(
                gettext_noop("%(former)s moved to %(queue)s"), {"former": Before(change.former), "queue": queue}
            )
            return (moved, *settings)
        case ChangeKind.CHANGED:
            return settings


def _sentence(queue: str, setting: Setting) -> Message:
    before, after = Before(setting.before), After(setting.after)
    params = {"queue": queue, "setting": label(setting), "before": before, "after": after}
    if not setting.before:
        return Message(gettext_noop("%(queue)s: %(setting)s set to %(after)s"), params)
    if not setting.after:
        return Message(gettext_noop("%(queue)s: %(setting)s %(before)s removed"), params)
    return Message(gettext_noop("%(queue)s: %(setting)s %(before)s → %(after)s"), params)


def describe_tree_setting(setting: Setting, name: str = "") -> Message:
    """Describe a changed setting of the tree itself: ``policy fence → priority``.

    ``name`` replaces the setting's name.
    """
    params = {"setting": Topic(name or label(setting)), "before": Before(setting.before), "after": After(setting.after)}
    if not setting.before:
        return Message(gettext_noop("%(setting)s set to %(after)s"), params)
    if not setting.after:
        return Message(gettext_noop("%(setting)s %(before)s removed"), params)
    return Message(gettext_noop("%(setting)s %(before)s → %(after)s"), params)


def label(setting: Setting) -> str:
    """Return the display name of a setting: ``guaranteed cpu``, ``preemption policy``."""
    return f"{setting.field} {setting.resource}".replace("_", " ").strip()
