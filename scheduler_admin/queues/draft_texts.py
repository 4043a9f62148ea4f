"""The settings of a draft's queue as they are typed: ``{"max/cpu": "4", "delay": "10s", "template/weight": "2"}``.

A setting that is not set is missing. So is a queue without a template; one whose template sets nothing has
``{"template/own": "true"}``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.percentages import is_share, read_share, write_share
from engine.formats.tree_json.weights import read_weight
from engine.model.quantities import format_amount
from engine.model.queue_settings import BY_DRAFT_NAME, SETTINGS, TEMPLATE_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import write_weight

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
    setting = BY_DRAFT_NAME[field]
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
    """Return the same in the same words: ``1000m`` and ``1`` are no two changes, and a default is not set."""
    found = {name: _canonical(name, text) for name, text in texts.items()}
    return {name: text for name, text in found.items() if text}


def _canonical(name: str, text: str) -> str:
    setting = setting_named(name)
    if setting is None:
        return text
    match setting.kind:
        case Kind.AMOUNTS:
            return _canonical_amount(name.removeprefix(TEMPLATE).partition("/")[2], text)
        case Kind.WEIGHT:
            return _canonical_weight(setting, text)
        case Kind.FLAG | Kind.CHOICE if setting.default is not None and text == str(setting.default).lower():
            return ""
        case _:
            return text


def _canonical_amount(resource: str, text: str) -> str:
    try:
        if is_share(text):
            return write_share(read_share(text))
        return format_amount(resource, read_amount(resource, text))
    except AmountError:
        return text


def _canonical_weight(setting: QueueSetting, text: str) -> str:
    try:
        weight = read_weight(text)
    except AmountError:
        return text
    return "" if weight == setting.default else write_weight(weight)
