"""A draft's queues as a document of our own form, and as the flat settings that are merged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.formats.amounts import AmountError, read_amount
from engine.formats.form import Reading, read_form, write_queue, write_settings
from engine.formats.placement import write_rules
from engine.queues import QueueTree
from engine.resources import format_amount
from scheduler_admin.queues.models import Draft, DraftQueue

AMOUNTS = ("guaranteed", "max")
TEXTS = ("preemption_policy", "delay", "quota_delay", "priority_policy", "priority_offset", "namespaces")
MARKS = ("parent_declared", "evict_uncontrolled")


@dataclass(frozen=True)
class Placed:
    """A queue of a draft with its place in the tree."""

    row: DraftQueue
    path: str
    depth: int


def placed(rows: Iterable[DraftQueue]) -> list[Placed]:
    """All queues of a draft, parents before children, siblings as they were made."""
    below: dict[int | None, list[DraftQueue]] = {}
    for row in rows:
        below.setdefault(row.parent_id, []).append(row)
    found: list[Placed] = []
    pending = [(row, row.name, 0) for row in reversed(below.get(None, []))]
    while pending:
        row, path, depth = pending.pop()
        found.append(Placed(row, path, depth))
        pending += [(child, f"{path}.{child.name}", depth + 1) for child in reversed(below.get(row.pk, []))]
    return found


def reading(queues: Sequence[Placed], base: QueueTree) -> Reading:
    """The draft as a tree, with what is wrong; a note's ``index`` is the place in ``queues``.

    Placement rules, and the templates of queues that were there, are those of the base: drafts do not change them. A
    queue that was put back has its template along.
    """
    documents = [_document(one) | _template(one, base) for one in queues]
    return read_form({"queues": documents, "placement": write_rules(base.placement)})


def moved(queues: Iterable[Placed]) -> dict[str, str]:
    """Path -> path in the base, of every queue that was there under another one."""
    return {one.path: one.row.origin for one in queues if one.row.origin and one.row.origin != one.path}


def _document(one: Placed) -> dict[str, Any]:
    row = one.row
    settings: dict[str, Any] = {
        "path": one.path,
        "parent": row.parent_declared,
        "evict_uncontrolled": row.evict_uncontrolled,
        "namespaces": row.namespaces.replace(",", " ").split(),
    }
    settings |= {field: {name: text for name, text in getattr(row, field).items() if text} for field in AMOUNTS}
    return settings | {field: getattr(row, field) for field in TEXTS if field != "namespaces"}


def _template(one: Placed, base: QueueTree) -> dict[str, Any]:
    template = template_of(one.row, base)
    return {} if template is None else {"template": template}


def template_of(row: DraftQueue, base: QueueTree) -> dict[str, Any] | None:
    """The template of a queue, as our own form has it: the base's where it was there, else its own."""
    if row.origin not in base:
        return row.template
    template = base[row.origin].template
    return None if template is None else write_settings(template)


def fields_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A queue of ``write_queue`` as the fields of a DraftQueue."""
    return {
        "parent_declared": settings.get("parent", False),
        "evict_uncontrolled": settings.get("evict_uncontrolled", False),
        "guaranteed": settings.get("guaranteed", {}),
        "max": settings.get("max", {}),
        "namespaces": ", ".join(settings.get("namespaces", [])),
    } | {field: str(settings.get(field, "")) for field in TEXTS if field != "namespaces"}


# The flat settings of engine.merging


def flat_tree(tree: QueueTree) -> dict[str, dict[str, str]]:
    """Path -> settings of every queue of a revision; its path is its identity."""
    found = {}
    for path in tree.walk():
        queue = tree[path]
        found[path] = _flat(queue.name, queue.parent or "", fields_of(write_queue(queue)))
    return found


def flat_draft(queues: Sequence[Placed]) -> tuple[dict[str, dict[str, str]], dict[str, DraftQueue]]:
    """Identity -> settings, and -> row."""
    identity = _identities(queues)
    settings = {}
    for one in queues:
        fields = {field: getattr(one.row, field) for field in (*AMOUNTS, *TEXTS, *MARKS)}
        parent = identity[one.row.parent_id] if one.row.parent_id else ""
        settings[identity[one.row.pk]] = _flat(one.row.name, parent, fields)
    return settings, {identity[one.row.pk]: one.row for one in queues}


def _identities(queues: Sequence[Placed]) -> dict[int, str]:
    """Row -> its path in the base. A new one's is what it would be there, so that both may have added it."""
    taken = {one.row.origin for one in queues}
    found: dict[int, str] = {}
    for one in queues:
        row = one.row
        identity = row.origin or f"{found[row.parent_id or 0]}.{row.name}"
        if not row.origin and identity in taken:
            identity = f"{identity}+{row.pk}"  # which no name can hold
        taken.add(identity)
        found[row.pk] = identity
    return found


def _flat(name: str, parent: str, fields: Mapping[str, Any]) -> dict[str, str]:
    settings = {"name": name, "parent": parent}
    settings |= {field: fields[field] for field in TEXTS}
    settings |= {field: "true" for field in MARKS if fields[field]}
    settings |= {
        f"{field}/{resource}": _canonical(resource, text)
        for field in AMOUNTS
        for resource, text in fields[field].items()
    }
    return {setting: text for setting, text in settings.items() if text}


def _canonical(resource: str, text: str) -> str:
    """The same amount in the same words: ``1000m`` and ``1`` are no two changes."""
    try:
        return format_amount(resource, read_amount(resource, text)) if text else ""
    except AmountError:
        return text


def assign(row: DraftQueue, setting: str, text: str) -> None:
    """Set one flat setting (but name and parent) of a row; an empty text unsets it."""
    field, _slash, resource = setting.partition("/")
    if resource:
        kept = {name: value for name, value in getattr(row, field).items() if name != resource}
        setattr(row, field, kept | ({resource: text} if text else {}))
    elif field in MARKS:
        setattr(row, field, text == "true")
    else:
        setattr(row, field, text)


def text_of(row: DraftQueue, setting: str) -> str:
    """What one flat setting of a row says now."""
    field, _slash, resource = setting.partition("/")
    if resource:
        return str(getattr(row, field).get(resource, ""))
    value = getattr(row, field)
    return "true" if value is True else "" if value is False else str(value)


def queues_of(draft: Draft) -> list[Placed]:
    """The draft's queues in their places, read afresh unless they were fetched with it."""
    return placed(draft.queues.all())
