"""Templates of a draft's queues, setting by setting: ``{"max/cpu": "4", "delay": "10s"}``. Empty: there is none."""

from collections.abc import Mapping
from typing import Any

from engine.formats.form_fields import TEMPLATE_FIELDS

OWN = "own"
"""Set to ``true`` where there is a template even if nothing else is set in it: nothing is taken from one above then."""
AMOUNTS = ("guaranteed", "max")
SETTINGS = (OWN, *(field for field in TEMPLATE_FIELDS if field not in AMOUNTS))
"""Those that have a text of their own, beside an amount of each resource."""


def flattened(template: Mapping[str, Any] | None) -> dict[str, str]:
    """A template of our own form (engine.formats.form), None for none."""
    if template is None:
        return {}
    texts = {f"{field}/{name}": str(text) for field in AMOUNTS for name, text in template.get(field, {}).items()}
    texts |= {field: "true" if value is True else str(value) for field, value in template.items() if field in SETTINGS}
    return texts or {OWN: "true"}


def nested(texts: Mapping[str, str]) -> dict[str, Any] | None:
    """What ``flattened`` made of it, as our own form has it."""
    said = {setting: text for setting, text in texts.items() if text}
    if not said:
        return None
    template: dict[str, Any] = {field: said[field] for field in SETTINGS if field in said and field != OWN}
    if "evict_uncontrolled" in template:
        template["evict_uncontrolled"] = template["evict_uncontrolled"] == "true"
    for setting, text in said.items():
        field, slash, resource = setting.partition("/")
        if slash:
            template.setdefault(field, {})[resource] = text
    return template
