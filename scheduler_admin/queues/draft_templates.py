"""Templates of a draft's queues, setting by setting: ``{"max/cpu": "4", "delay": "10s"}``. Empty: there is none."""

from collections.abc import Mapping
from typing import Any

from engine.formats.tree_json.settings import TEMPLATE_FIELDS

OWN = "own"
"""Set to ``true`` where there is a template even if nothing else is set in it: nothing is taken from one above then."""
AMOUNTS = ("guaranteed", "max", "lendable")
FLAGS = ("evict_uncontrolled", "take_borrowing")
"""Those that are true or false."""
SETTINGS = (OWN, *(field for field in TEMPLATE_FIELDS if field not in AMOUNTS))
"""Those that have a text of their own, beside an amount of each resource."""


def flattened(template: Mapping[str, Any] | None) -> dict[str, str]:
    """A template of our own form (engine.formats.tree_json.document), None for none."""
    if template is None:
        return {}
    texts = {f"{field}/{name}": str(text) for field in AMOUNTS for name, text in template.get(field, {}).items()}
    texts |= {field: text_said(value) for field, value in template.items() if field in SETTINGS}
    return texts or {OWN: "true"}


def nested(texts: Mapping[str, str]) -> dict[str, Any] | None:
    """What ``flattened`` made of it, as our own form has it."""
    said = {setting: text for setting, text in texts.items() if text}
    if not said:
        return None
    template: dict[str, Any] = {field: said[field] for field in SETTINGS if field in said and field != OWN}
    template |= {field: flag(template[field]) for field in FLAGS if field in template}
    for setting, text in said.items():
        field, slash, resource = setting.partition("/")
        if slash:
            template.setdefault(field, {})[resource] = text
    return template


def text_said(value: Any) -> str:
    """A value of our own form as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag(text: str) -> bool | str | None:
    """What a text that is to say true or false says; None: nothing. Another is given back, to be refused."""
    return {"": None, "true": True, "false": False}.get(text, text)
