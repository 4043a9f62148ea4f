"""A draft as a document of our own form, and as the flat settings that are merged."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from engine.formats.tree_json.document import TreeDocument, read_form, write_queue
from engine.formats.tree_json.percentages import PercentageBase, is_share
from engine.formats.tree_json.placement import write_rules
from engine.formats.tree_json.policy_terms import read_parameters, write_parameters
from engine.model.quantities import format_amount, format_amounts
from engine.policies import parameters_of
from scheduler_admin.queues.drafts.kept import kept_of
from scheduler_admin.queues.drafts.texts import TEMPLATE, Texts, canonical, typed, untyped
from scheduler_admin.queues.models import Draft, DraftQueue, Revision
from scheduler_admin.queues.services.hierarchies import Terms, tree_of

PLACE = ("name", "parent")
"""The flat settings that make a queue's path."""
TERMS = ("policy", "dialect")
NAMED = ("parameters", "capacity")
"""Those of a draft itself that hold several texts by name: ``parameters/last_resort``, ``capacity/cpu``."""
PLACEMENT = "placement"
"""What a draft holds as one value: its text is JSON."""
DRAFT = ""
"""The identity under which what a draft holds beside its queues is merged."""


class Placed(msgspec.Struct, frozen=True, dict=True):
    """A queue of a draft with its place in the tree. Whoever changes the row places it anew."""

    row: DraftQueue
    path: str
    depth: int
    pk: int
    above: int | None
    """The key of the row of the queue above. As ``row`` says them: asking it takes longer, and it is asked often."""

    @cached_property
    def document(self) -> dict[str, Any]:
        """It in our own form."""
        return {"path": self.path, **untyped(self.row.settings)}

    @cached_property
    def has_shares(self) -> bool:
        """Whether anything may be typed as a share."""
        return any("%" in text for text in self.row.settings.values())


def placed(rows: Iterable[DraftQueue], known: Mapping[int, Placed] | None = None) -> list[Placed]:
    """All queues of a draft, parents before children, siblings as they were made.

    ``known`` by key: as they were placed before; those that stayed as and where they were are the same ones.
    """
    known = known or {}
    below: dict[int | None, list[DraftQueue]] = {}
    for row in rows:
        below.setdefault(row.parent_id, []).append(row)
    found: list[Placed] = []
    pending: list[tuple[DraftQueue, Placed | None]] = [(row, None) for row in reversed(below.get(None, []))]
    while pending:
        row, above = pending.pop()
        was = known.get(row.id)
        one = was if was is not None and was.row is row and _stays(was, above, known) else _place(row, above)
        found.append(one)
        pending += [(row, one) for row in reversed(below.get(one.pk, ()))]
    return found


def _stays(one: Placed, above: Placed | None, known: Mapping[int, Placed]) -> bool:
    """Whether a queue that is the same stands where it stood."""
    if above is None or one.above != above.pk:
        return above is None and one.depth == 0
    return known.get(above.pk) is above or (one.path == f"{above.path}.{one.row.name}" and one.depth == above.depth + 1)


def _place(row: DraftQueue, above: Placed | None) -> Placed:
    if above is None:
        return Placed(row, row.name, 0, row.id, None)
    return Placed(row, f"{above.path}.{row.name}", above.depth + 1, row.id, above.pk)


def reading(draft: Draft, queues: Sequence[Placed]) -> TreeDocument:
    """The draft as a tree and its terms, with what is wrong; a note's ``index`` is the place in ``queues``."""
    documents = [one.document for one in queues]
    capacity = draft.hierarchy.capacity if any(one.has_shares for one in queues) else PercentageBase()
    beside = {"placement": draft.placement, "capacity": draft.capacity}
    tree = read_form({"queues": documents, **beside}, capacity, kept_of(draft).read)
    parameters, wrong = read_parameters(draft.policy, draft.dialect, draft.parameters)
    return msgspec.structs.replace(
        tree, policy=draft.policy, dialect=draft.dialect, parameters=parameters, notes=(*wrong, *tree.notes)
    )


def _shared(row: DraftQueue) -> set[str]:
    """The resources of which anything is typed as a share."""
    found = [name for name, text in row.settings.items() if "%" in text and "/" in name and is_share(text)]
    return {name.removeprefix(TEMPLATE).partition("/")[2] for name in found}


def pin(draft: Draft, rows: Iterable[DraftQueue]) -> None:
    """Keep what the cluster holds of each resource that these have shares of: it is published as it was shown."""
    names = {name for row in rows for name in _shared(row)} - draft.capacity.keys()
    if names:
        held = draft.hierarchy.capacity.amounts
        draft.capacity = draft.capacity | {name: format_amount(name, held[name]) for name in names & held.keys()}


def capacities(draft: Draft, resource: str) -> dict[str, str]:
    """What shares of the cluster may be of -> since when: the ``base`` was published, or ``now``."""
    held, then = draft.hierarchy.capacity.amounts, tree_of(draft.base).capacity
    now = {format_amount(resource, held[resource]): "now"} if resource in held else {}
    return now | ({format_amount(resource, then[resource]): "base"} if resource in then else {})


def terms_in(read: TreeDocument) -> Terms:
    """By which policy a draft that was read is to be enforced."""
    return Terms(read.policy or "", read.dialect or "", read.parameters or {})


def moved(queues: Iterable[Placed]) -> dict[str, str]:
    """Path -> path in the base, of every queue that was there under another one."""
    return {one.path: one.row.origin for one in queues if one.row.origin and one.row.origin != one.path}


def terms_of_base(base: Revision) -> dict[str, Any]:
    """The fields of a Draft that says the same as a revision, beside its queues."""
    return {
        "policy": base.policy,
        "dialect": base.dialect,
        "parameters": write_parameters(base.parameters),
        "placement": write_rules(tree_of(base).placement),
        "capacity": format_amounts(tree_of(base).capacity),
    }


def rows_of_base(draft: Draft, paths: Iterable[str] | None = None) -> list[DraftQueue]:
    """The queues of a draft's base as rows that are not stored, parents first; each has its place, from one, as key.

    ``paths``: of these queues alone.
    """
    tree = tree_of(draft.base)
    return [
        DraftQueue(
            pk=tree.turn[path] + 1,
            draft=draft,
            parent_id=tree.turn[above] + 1 if (above := tree.parents[path]) else None,
            name=tree[path].name,
            origin=path,
            settings=typed(write_queue(tree[path])),
        )
        for path in (tree.walk() if paths is None else paths)
    ]


def placed_in_base(row: DraftQueue) -> Placed:
    """A row of ``rows_of_base`` in its place."""
    return Placed(row, row.origin, row.origin.count("."), row.id, row.parent_id)


# The flat settings of engine.tree.three_way_merge


def flat_tree(base: Revision, known: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
    """Identity -> settings of every queue of a revision; DRAFT -> what is beside them.

    A queue's identity is its path, or what it is ``known`` as in the revision that it is compared with.
    """
    tree, known = tree_of(base), known or {}
    found = {DRAFT: _flat_terms(Draft(**terms_of_base(base)))}
    for path in tree.walk():
        queue = tree[path]
        above = queue.parent or ""
        found[known.get(path, path)] = _flat(queue.name, known.get(above, above), typed(write_queue(queue)))
    return found


def flat_draft(draft: Draft, queues: Sequence[Placed]) -> tuple[dict[str, dict[str, str]], dict[str, DraftQueue]]:
    """Identity -> settings, and of queues -> row."""
    identity = _identities(queues)
    settings = {DRAFT: _flat_terms(draft)}
    for one in queues:
        parent = identity[one.row.parent_id] if one.row.parent_id else ""
        settings[identity[one.row.pk]] = _flat(one.row.name, parent, one.row.settings)
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


def _flat(name: str, parent: str, texts: Texts) -> dict[str, str]:
    place = {"name": name, "parent": parent}
    return {setting: text for setting, text in place.items() if text} | canonical(texts)


def _flat_terms(draft: Draft) -> dict[str, str]:
    names = [f"parameters/{one.name}" for one in parameters_of(draft.policy, draft.dialect)]
    names += [f"capacity/{name}" for name in draft.capacity]
    texts = {setting: text_of(draft, setting) for setting in (*TERMS, *names, PLACEMENT)}
    return {setting: text for setting, text in texts.items() if text}


def assign(row: DraftQueue | Draft, setting: str, text: str) -> None:
    """Set one flat setting (but the parent) of a row or of the draft itself; an empty text unsets it."""
    if isinstance(row, DraftQueue):
        if setting == "name":
            row.name = text
        else:
            row.settings = _with(row.settings, setting, text)
        return
    field, _slash, name = setting.partition("/")
    if name:
        setattr(row, field, _with(getattr(row, field), name, text))
    elif field == PLACEMENT:
        row.placement = msgspec.json.decode(text) if text else []
    else:
        setattr(row, field, text)


def _with(texts: Texts, name: str, text: str) -> dict[str, str]:
    others = {other: value for other, value in texts.items() if other != name}
    return others | ({name: text} if text else {})


def text_of(row: DraftQueue | Draft, setting: str) -> str:
    """What one flat setting of a row, or of the draft itself, says now."""
    if isinstance(row, DraftQueue):
        if setting in PLACE:
            return row.name if setting == "name" else str(row.parent or "")
        return str(row.settings.get(setting, ""))
    field, _slash, name = setting.partition("/")
    value = getattr(row, field)
    if name:
        return str(value.get(name, ""))
    if field == PLACEMENT:
        return msgspec.json.encode(value, order="sorted").decode() if value else ""
    return str(value)


def queues_of(draft: Draft) -> list[Placed]:
    """The draft's queues in their places, read afresh unless they were fetched with it."""
    return placed(draft.queues.all())
