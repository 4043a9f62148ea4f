"""The product's own format of a tree: JSON with amounts as people type them, for CI and for drafts.

    {"policy": "fence", "dialect": "design", "parameters": {},
     "queues": [{"path": "root"},
                {"path": "root.tenant-1", "preemption_policy": "fence", "guaranteed": {"cpu": "40", "memory": "64Gi"}},
                {"path": "root.tenant-1.queue-b", "max": {"cpu": "1500m"}, "delay": "30s", "namespaces": ["search"]}]}

An amount may be a percentage such as ``"40%"`` (see ``percentages``); ``capacity`` then gives the amounts that
percentages of the cluster refer to. ``placement`` holds the rules of ``placement.py``. A queue's ``template`` holds the
settings of leaves that are created below it. Queues may be in any order. The canonical encoding, which programs store,
is in ``canonical``.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from engine.formats.tree_json.durations import format_duration
from engine.formats.tree_json.percentages import PercentageBase, Resolution, shares_of, write_share
from engine.formats.tree_json.placement import read_rules, write_rules
from engine.formats.tree_json.settings import note_unknown, read_capacity, read_settings
from engine.model.message import gettext_noop
from engine.model.notes import MOST_QUEUES, DocumentPlace, Note, NoteCollector, Severity
from engine.model.placement_rules import Rule
from engine.model.quantities import format_amounts
from engine.model.queue_settings import SETTINGS, TEMPLATE_SETTINGS, Kind, QueueSetting, differing_fields
from engine.model.queue_tree import LONGEST_PATH, ROOT, Queue, QueueTree, Settings, is_queue_name, write_weight

TERMS = ("policy", "dialect", "parameters")
"""Members of a document that select the policy, its dialect and its parameters."""
_MEMBERS = (*TERMS, "placement", "capacity", "queues")
Known = dict[str, tuple[Mapping[str, Any], Queue]]
"""Path -> a queue's settings as given, and the queue they were read as; only queues without errors."""


class TreeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a document. ``policy``, ``dialect`` and ``parameters`` are None if the document omits them."""

    tree: QueueTree | None
    """The queue tree, without settings that could not be read; None if the queues form no tree."""
    policy: str | None = None
    dialect: str | None = None
    parameters: dict[str, Any] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether an error was found; a tree with errors is never published."""
        return any(note.severity is Severity.ERROR for note in self.notes)


def read_form(
    document: Any,
    capacity: PercentageBase = PercentageBase(),  # noqa: B008 - frozen
    known: Known | None = None,
) -> TreeDocument:
    """Read a document in the product's own format, parsed from JSON.

    This function never raises: every error becomes a note at its place.

    ``capacity`` is the base of percentages of the cluster that the document itself does not give. ``known`` avoids
    reading a queue again whose settings did not change since the last call; it is refilled for the next call.
    """
    book = NoteCollector()
    queue_list = document.get("queues") if isinstance(document, Mapping) else None
    if not isinstance(queue_list, list):
        place = DocumentPlace().at("queues") if isinstance(document, Mapping) else DocumentPlace()
        book.error(place, gettext_noop("The document must be an object with a list of queues."))
        return TreeDocument(tree=None, notes=tuple(book.notes))
    if len(queue_list) > MOST_QUEUES:
        book.error(
            DocumentPlace().at("queues"), gettext_noop("There are more than %(most)s queues."), most=str(MOST_QUEUES)
        )
        return TreeDocument(tree=None, notes=tuple(book.notes))
    note_unknown(document, _MEMBERS, DocumentPlace(), book)
    capacity = capacity.but(read_capacity(document, book))
    return TreeDocument(
        policy=_text(document, "policy", book),
        dialect=_text(document, "dialect", book),
        parameters=_parameters(document, book),
        tree=_tree(queue_list, _placement(document, book), capacity, book, {} if known is None else known),
        notes=tuple(book.notes),
    )


def write_form(tree: QueueTree) -> dict[str, Any]:
    """Write a tree in the product's own format, parents before children, without unset settings.

    ``read_form`` reads it back.
    """
    return {**write_other_members(tree), "queues": [write_queue(tree[path]) for path in tree.walk()]}


def write_other_members(tree: QueueTree) -> dict[str, Any]:
    """Return the members of ``write_form`` other than the queues."""
    members = {"placement": write_rules(tree.placement), "capacity": format_amounts(tree.capacity)}
    return {name: value for name, value in members.items() if value}


def write_queue(queue: Queue) -> dict[str, Any]:
    """Return a queue as ``write_form`` writes it."""
    written: dict[str, Any] = {"path": queue.path, **write_settings(queue, SETTINGS)}
    if queue.template is not None:
        written["template"] = write_settings(queue.template)
    return written


def write_settings(settings: Settings, known_settings: Iterable[QueueSetting] = TEMPLATE_SETTINGS) -> dict[str, Any]:
    """Return those of these settings that are set, as ``read_form`` reads them."""
    differing = differing_fields(settings)
    return {
        setting.name: _WRITERS[setting.kind](settings, setting)
        for setting in known_settings
        if setting.attribute in differing or setting.share_attribute in differing
    }


def _write_amounts(settings: Settings, setting: QueueSetting) -> dict[str, str]:
    texts = format_amounts(setting.of(settings))
    if setting.share_attribute:
        texts |= {name: write_share(share) for name, share in shares_of(settings, setting.name).items()}
    return dict(sorted(texts.items()))


_WRITERS: Mapping[Kind, Callable[[Settings, QueueSetting], Any]] = {
    Kind.AMOUNTS: _write_amounts,
    Kind.CHOICE: lambda settings, setting: str(setting.of(settings)),
    Kind.DURATION: lambda settings, setting: format_duration(setting.of(settings)),
    Kind.INTEGER: lambda settings, setting: setting.of(settings),
    Kind.FLAG: lambda settings, setting: setting.of(settings),
    Kind.WEIGHT: lambda settings, setting: write_weight(setting.of(settings)),
    Kind.NAMES: lambda settings, setting: list(setting.of(settings)),
}


def _placement(document: Mapping[str, Any], book: NoteCollector) -> tuple[Rule, ...]:
    def complain(_mapping: Any, _key: str, where: tuple[str, ...], message: str, /, **params: str) -> None:
        book.error(DocumentPlace().at("placement", *where), message, **params)

    return read_rules(document.get("placement"), complain)


def _tree(
    queue_list: list[Any], placement: tuple[Rule, ...], capacity: PercentageBase, book: NoteCollector, known: Known
) -> QueueTree | None:
    queues: dict[str, Queue] = {}
    places: dict[str, int] = {}
    sound: Known = {}
    whole = True
    for index, settings in enumerate(queue_list):
        same = _same(settings, known)
        path = same[1].path if same else _path(settings, DocumentPlace(index=index), book)
        if path is None:
            whole = False
            continue
        if path.lower() in places:
            twice = DocumentPlace(index=index, path=path).at("path")
            book.error(twice, gettext_noop("Queue %(name)s is defined twice."), name=path)
            whole = False
            continue
        places[path.lower()] = index
        noted = len(book.notes)
        read = same or (settings, read_settings(settings, DocumentPlace(index=index, path=path), book))
        queues[path] = read[1]
        if len(book.notes) == noted:
            sound[path] = read
    known.clear()
    known.update(sound)
    whole = _check_parents(queues, places, book) and whole
    resolution = Resolution(capacity, book)
    settled = resolution.settled(queues, places)
    return QueueTree(settled.values(), placement, resolution.used) if whole else None


def _same(settings: Any, known: Known) -> tuple[Mapping[str, Any], Queue] | None:
    """Return the settings and the queue from the last call if the settings are unchanged, else None."""
    path = settings.get("path") if isinstance(settings, Mapping) else None
    had = known.get(path) if isinstance(path, str) else None
    return had if had is not None and (had[0] is settings or had[0] == settings) else None


def _check_parents(queues: Mapping[str, Queue], places: Mapping[str, int], book: NoteCollector) -> bool:
    """Return whether there are queues and all of them have their parent; each missing parent is an error."""
    missing = [(path, parent) for path, queue in queues.items() if (parent := queue.parent) not in queues]
    for path, parent in missing:
        if parent is not None:
            message = gettext_noop("Parent queue %(parent)s does not exist.")
            book.error(DocumentPlace(index=places[path.lower()], path=path).at("path"), message, parent=parent)
    if not queues:
        book.error(DocumentPlace().at("queues"), gettext_noop("A tree must contain at least the root queue."))
    return bool(queues) and all(parent is None for _path, parent in missing)


def _path(settings: Any, place: DocumentPlace, book: NoteCollector) -> str | None:
    path = settings.get("path") if isinstance(settings, Mapping) else None
    if not isinstance(path, str):
        place = place.at("path") if isinstance(settings, Mapping) and "path" in settings else place
        book.error(place, gettext_noop("A queue must be an object with a path."))
        return None
    place = msgspec.structs.replace(place, path=path).at("path")
    if len(path) > LONGEST_PATH:
        book.error(place, gettext_noop("A path can have at most %(most)s characters."), most=str(LONGEST_PATH))
        return None
    root, *names = path.split(".")
    if root != ROOT:
        book.error(place, gettext_noop("Every path must begin with root, for example root.tenant-1.queue-b."))
        return None
    for name in names:
        if not is_queue_name(name):
            message = gettext_noop(
                "%(name)s is not a valid queue name. Use at most 64 letters, digits and the characters _:#/@-."
            )
            book.error(place, message, name=repr(name))
            return None
        if name.lower() == ROOT:
            book.error(place, gettext_noop("Only the top-level queue can be named root."))
            return None
    return path


def _text(document: Mapping[str, Any], member: str, book: NoteCollector) -> str | None:
    value = document.get(member)
    if value is not None and not isinstance(value, str):
        book.error(DocumentPlace().at(member), gettext_noop("%(key)s must be a string."), key=member)
        return None
    return value


def _parameters(document: Mapping[str, Any], book: NoteCollector) -> dict[str, Any] | None:
    value = document.get("parameters")
    if value is not None and not isinstance(value, dict):
        book.error(DocumentPlace().at("parameters"), gettext_noop("%(key)s must be a mapping."), key="parameters")
        return None
    return value
