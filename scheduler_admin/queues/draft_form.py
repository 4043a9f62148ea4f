"""A draft as a document of our own form, and as the flat settings that are merged."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.document import Known, TreeDocument, read_form, write_queue
from engine.formats.tree_json.percentages import PercentageBase, is_share, read_share, write_share
from engine.formats.tree_json.placement import write_rules
from engine.formats.tree_json.policy_terms import read_parameters, write_parameters
from engine.formats.tree_json.weights import read_weight
from engine.model.quantities import format_amount, format_amounts
from engine.model.queue_tree import WEIGHT_ONE, write_weight
from engine.policies import parameters_of
from scheduler_admin.queues.draft_templates import flag, flattened, nested, text_said
from scheduler_admin.queues.models import Draft, DraftQueue, Revision
from scheduler_admin.queues.services import Terms, tree_of

AMOUNTS = ("guaranteed", "max", "lendable")
TEXTS = (
    "preemption_policy",
    "delay",
    "quota_delay",
    "priority_policy",
    "priority_offset",
    "namespaces",
    "former_paths",
    "weight",
    "take_within",
    "take_reclaim",
    "take_borrowing",
    "take_threshold",
)
LISTS = ("namespaces", "former_paths")
"""The texts that hold several names, with commas or blanks between them."""
MARKS = ("parent_declared", "evict_uncontrolled")
PARTED = (*AMOUNTS, "template")
"""Those of a queue that hold several texts by name: ``max/cpu``, ``template/delay``."""
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
        return _document(self)

    @cached_property
    def has_shares(self) -> bool:
        """Whether anything may be typed as a share."""
        row = self.row
        return any("%" in text for texts in (row.guaranteed, row.max, row.template) for text in texts.values())


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
    tree = read_form({"queues": documents, **beside}, capacity, _known(draft.pk))
    parameters, wrong = read_parameters(draft.policy, draft.dialect, draft.parameters)
    return msgspec.structs.replace(
        tree, policy=draft.policy, dialect=draft.dialect, parameters=parameters, notes=(*wrong, *tree.notes)
    )


@lru_cache(maxsize=8)  # drafts that people are at, in this process
def _known(draft: int | None) -> Known:
    """What was read of a draft the last time: an act changes a few of its queues."""
    del draft
    return {}


def _shared(row: DraftQueue) -> set[str]:
    """The resources of which anything is typed as a share."""
    found = [name for field in PARTED for name, text in getattr(row, field).items() if "%" in text and is_share(text)]
    return {setting.removeprefix("guaranteed/").removeprefix("max/") for setting in found}


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


def _document(one: Placed) -> dict[str, Any]:
    row = one.row
    return {
        "path": one.path,
        "parent": row.parent_declared,
        "evict_uncontrolled": row.evict_uncontrolled,
        **{field: listed(getattr(row, field)) for field in LISTS},
        "guaranteed": _typed(row.guaranteed),
        "max": _typed(row.max),
        "preemption_policy": row.preemption_policy,
        "delay": row.delay,
        "quota_delay": row.quota_delay,
        "priority_policy": row.priority_policy,
        "priority_offset": row.priority_offset,
        "weight": row.weight,
        "lendable": _typed(row.lendable),
        "take_within": row.take_within,
        "take_reclaim": row.take_reclaim,
        "take_borrowing": flag(row.take_borrowing),
        "take_threshold": row.take_threshold,
        "template": nested(row.template) if row.template else None,
    }


def listed(text: str) -> list[str]:
    """The names of one of LISTS."""
    return text.replace(",", " ").split()


def _typed(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Without those that say nothing."""
    return texts if all(texts.values()) else {name: text for name, text in texts.items() if text}


def terms_of_base(base: Revision) -> dict[str, Any]:
    """The fields of a Draft that says the same as a revision, beside its queues."""
    return {
        "policy": base.policy,
        "dialect": base.dialect,
        "parameters": write_parameters(base.parameters),
        "placement": write_rules(tree_of(base).placement),
        "capacity": format_amounts(tree_of(base).capacity),
    }


def fields_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A queue of ``write_queue`` as the fields of a DraftQueue."""
    return {
        "parent_declared": settings.get("parent", False),
        "evict_uncontrolled": settings.get("evict_uncontrolled", False),
        **{field: settings.get(field, {}) for field in AMOUNTS},
        **{field: ", ".join(settings.get(field, [])) for field in LISTS},
        "template": flattened(settings.get("template")),
    } | {field: text_said(settings.get(field, "")) for field in TEXTS if field not in LISTS}


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
        found[known.get(path, path)] = _flat(queue.name, known.get(above, above), fields_of(write_queue(queue)))
    return found


def flat_draft(draft: Draft, queues: Sequence[Placed]) -> tuple[dict[str, dict[str, str]], dict[str, DraftQueue]]:
    """Identity -> settings, and of queues -> row."""
    identity = _identities(queues)
    settings = {DRAFT: _flat_terms(draft)}
    for one in queues:
        fields = {field: getattr(one.row, field) for field in (*AMOUNTS, *TEXTS, *MARKS, "template")}
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
    settings |= {field: fields[field] for field in TEXTS} | {"weight": _canonical_weight(fields["weight"])}
    settings |= {field: "true" for field in MARKS if fields[field]}
    settings |= {f"{field}/{name}": _canonical(name, text) for field in AMOUNTS for name, text in fields[field].items()}
    for setting, text in fields["template"].items():
        resource = setting.partition("/")[2]
        canonical = _canonical_weight(text) if setting == "weight" else text
        settings[f"template/{setting}"] = _canonical(resource, text) if resource else canonical
    return {setting: text for setting, text in settings.items() if text}


def _flat_terms(draft: Draft) -> dict[str, str]:
    names = [f"parameters/{one.name}" for one in parameters_of(draft.policy, draft.dialect)]
    names += [f"capacity/{name}" for name in draft.capacity]
    texts = {setting: text_of(draft, setting) for setting in (*TERMS, *names, PLACEMENT)}
    return {setting: text for setting, text in texts.items() if text}


def _canonical(resource: str, text: str) -> str:
    """The same amount in the same words: ``1000m`` and ``1`` are no two changes."""
    try:
        if is_share(text):
            return write_share(read_share(text))
        return format_amount(resource, read_amount(resource, text)) if text else ""
    except AmountError:
        return text


def _canonical_weight(text: str) -> str:
    """Likewise; a weight of 1 is what says nothing."""
    try:
        weight = read_weight(text) if text else WEIGHT_ONE
    except AmountError:
        return text
    return "" if weight == WEIGHT_ONE else write_weight(weight)


def assign(row: DraftQueue | Draft, setting: str, text: str) -> None:
    """Set one flat setting (but name and parent) of a row or of the draft itself; an empty text unsets it."""
    field, _slash, name = setting.partition("/")
    if name:
        kept = {other: value for other, value in getattr(row, field).items() if other != name}
        setattr(row, field, kept | ({name: text} if text else {}))
    elif field == PLACEMENT:
        setattr(row, field, msgspec.json.decode(text) if text else [])
    elif field in MARKS:
        setattr(row, field, text == "true")
    else:
        setattr(row, field, text)


def text_of(row: DraftQueue | Draft, setting: str) -> str:
    """What one flat setting of a row, or of the draft itself, says now."""
    field, _slash, name = setting.partition("/")
    value = getattr(row, field)
    if name:
        return str(value.get(name, ""))
    if field == PLACEMENT:
        return msgspec.json.encode(value, order="sorted").decode() if value else ""
    return "true" if value is True else "" if value is False else str(value)


def queues_of(draft: Draft) -> list[Placed]:
    """The draft's queues in their places, read afresh unless they were fetched with it."""
    return placed(draft.queues.all())
