"""The settings of a draft's queue as they are typed: ``{"max/cpu": "4", "delay": "10s", "template/weight": "2"}``.

A setting that is not set is missing. So is a queue without a template; one whose template sets nothing has
``{"template/own": "true"}``.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from engine.formats.tree_json.document import write_settings
from engine.formats.tree_json.settings import read_values
from engine.model.notes import DocumentPlace, NoteCollector
from engine.model.queue_settings import BY_DRAFT_NAME, SETTINGS, TEMPLATE_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import ROOT, Queue

Texts = Mapping[str, str]
"""Setting -> text."""
TEMPLATE = "template/"
"""How the settings of a template begin."""
OWN = f"{TEMPLATE}own"
"""Set to ``true`` where there is a template even if nothing else is set in it: nothing is taken from one above then."""


def typed(queue: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a queue of our own form (engine.formats.tree_json.document)."""
    texts = _typed(queue, SETTINGS)
    template = queue.get("template")
    if template is None:
        return texts
    inside = {f"{TEMPLATE}{name}": text for name, text in _typed(template, TEMPLATE_SETTINGS).items()}
    return texts | (inside or {OWN: "true"})


def _typed(given: Mapping[str, Any], settings: Iterable[QueueSetting]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for setting in settings:
        value = given.get(setting.name)
        if value is None:
            continue
        match setting.kind:
            case Kind.AMOUNTS:
                texts |= {f"{setting.typed_as}/{resource}": str(amount) for resource, amount in value.items()}
            case Kind.NAMES:
                texts[setting.typed_as] = ", ".join(value)
            case Kind.FLAG:
                texts[setting.typed_as] = str(value).lower()
            case _:
                texts[setting.typed_as] = str(value)
    return texts


def untyped(texts: Texts) -> dict[str, Any]:
    """Return a queue of our own form, without its path, that says what these texts say, right or not yet."""
    queue: dict[str, Any] = {}
    for name, text in texts.items():
        if name.startswith(TEMPLATE):
            template = queue.setdefault("template", {})
            if name != OWN:
                _put(template, name.removeprefix(TEMPLATE), text)
        else:
            _put(queue, name, text)
    return queue


def _put(given: dict[str, Any], name: str, text: str) -> None:
    field, _slash, resource = name.partition("/")
    setting = BY_DRAFT_NAME.get(field)
    if setting is None:
        given[name] = text  # the reader says that there is no such setting
        return
    match setting.kind:
        case Kind.AMOUNTS:
            given.setdefault(setting.name, {})[resource] = text
        case Kind.NAMES:
            given[setting.name] = listed(text)
        case Kind.FLAG:
            given[setting.name] = {"true": True, "false": False}.get(text, text)
        case _:
            given[setting.name] = text


def listed(text: str) -> list[str]:
    """Return the names in a text, between which there are commas or blanks."""
    return text.replace(",", " ").split()


def setting_named(name: str) -> QueueSetting | None:
    """Return the setting that a draft's queue may have under this name, None if there is none: ``template/max/cpu``."""
    field, _slash, resource = name.removeprefix(TEMPLATE).partition("/")
    setting = BY_DRAFT_NAME.get(field)
    if setting is None or bool(resource) != (setting.kind is Kind.AMOUNTS):
        return None
    return setting if setting.in_template or not name.startswith(TEMPLATE) else None


def canonical(texts: Texts) -> dict[str, str]:
    """Return the same in the same words: ``1000m`` and ``1`` are no two changes, and a default is not set.

    What can't be read stays as it was typed.
    """
    every = {name: _canonical(name, text) for name, text in texts.items()}
    found = {name: text for name, text in every.items() if text}
    if any(map(_is_templates, texts)) and not any(map(_is_templates, found)):
        found[OWN] = "true"  # it sets defaults alone, and is a template all the same
    return found


def _is_templates(name: str) -> bool:
    return name.startswith(TEMPLATE)


@lru_cache(maxsize=20_000)  # queues of a tree say much the same, and a merge compares three trees
def _canonical(name: str, text: str) -> str:
    """Return the text as our own form writes what it is read as."""
    setting, own = setting_named(name), name.removeprefix(TEMPLATE)
    if setting is None:
        return text
    given: dict[str, Any] = {}
    _put(given, own, text)
    book = NoteCollector()
    read = Queue(path=ROOT, **read_values(given, [setting], DocumentPlace(), book))
    return text if book.notes else _typed(write_settings(read, [setting]), [setting]).get(own, "")
