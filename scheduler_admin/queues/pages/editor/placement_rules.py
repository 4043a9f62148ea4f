"""Placement rules of a draft as a form: a list of rules, each with the rules that give the queues above."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from engine.formats.tree_json.placement import MOST_RULES
from engine.model.notes import Note
from engine.model.placement_rules import DEEPEST_RULE, RuleName
from scheduler_admin.core.numbers import read_number
from scheduler_admin.queues.drafts.selectors import DraftState
from scheduler_admin.queues.notes import setting_of
from scheduler_admin.queues.presenters.setting_words import Options

VALUED = (RuleName.TAG, RuleName.FIXED)
"""Rules that have a value."""
_FIELD = re.compile(r"rule\.([0-9]{1,4})\.([0-9]{1,2})\.(name|value|create|type|users|groups)")
Written = dict[str, Any]
"""A rule of our own form, as it was typed."""


@dataclass(frozen=True)
class Link:
    """A rule, or (``depth``) the rule above it that gives the queue above, and so on."""

    rule: int
    depth: int
    texts: Mapping[str, str]
    errors: Sequence[Note]

    @property
    def place(self) -> str:
        """Its fields' prefix: ``rule.0.1``."""
        return f"rule.{self.rule}.{self.depth}"

    @property
    def valued(self) -> bool:
        """Whether it has a value to be typed."""
        return self.texts["name"] in VALUED

    @property
    def names(self) -> Options:
        """What its name may come from; also what it says that is none of these."""
        known = {
            RuleName.PROVIDED: _("the pod's queue label"),
            RuleName.USER: _("the user name"),
            RuleName.TAG: _("a namespace tag"),
            RuleName.FIXED: _("a fixed queue"),
        }
        name = self.texts["name"]
        return (*((one.value, word) for one, word in known.items()), *(() if name in known else ((name, name),)))


@dataclass(frozen=True)
class EditedRule:
    """One rule of the list with those above it."""

    number: int
    """Counted from one."""
    links: Sequence[Link]
    last: bool
    deepest: bool
    """Whether it can have no further rule above it."""


def edited_rules(state: DraftState) -> list[EditedRule]:
    """The rules as they were typed, with what is wrong at each."""
    errors: dict[tuple[int, int], list[Note]] = {}
    for note in state.errors:
        if (place := _place(setting_of(note))) is not None:
            errors.setdefault(place, []).append(note)
    found, listed = [], state.draft.placement
    for number, written in enumerate(listed):
        chain = [
            Link(number, depth, texts, errors.get((number, depth), ())) for depth, texts in enumerate(_texts(written))
        ]
        found.append(EditedRule(number + 1, chain, number + 1 == len(listed), len(chain) >= DEEPEST_RULE))
    return found


def _place(setting: str) -> tuple[int, int] | None:
    """Rule and depth that a setting ``placement/0/parent/name`` is about; None for the whole list."""
    parts = setting.split("/")
    if parts[0] != "placement" or len(parts) == 1:
        return None
    return int(parts[1]), parts.count("parent") - (parts[-1] == "parent")


def _texts(written: Any) -> list[dict[str, str]]:
    """The fields of a rule and of those above it."""
    found: list[dict[str, str]] = []
    while isinstance(written, Mapping) or not found:
        rule = written if isinstance(written, Mapping) else {}
        whom = rule.get("filter") if isinstance(rule.get("filter"), Mapping) else {}
        found.append(
            {
                "name": str(rule.get("name") or ""),
                "value": str(rule.get("value") or ""),
                "create": "true" if rule.get("create") is True else "",
                "type": str((whom or {}).get("type") or "allow"),
                "users": _lines((whom or {}).get("users")),
                "groups": _lines((whom or {}).get("groups")),
            }
        )
        written = rule.get("parent")
    return found


def _lines(names: Any) -> str:
    return "\n".join(str(name) for name in names) if isinstance(names, list) else ""


def read_rules_form(form: Mapping[str, Any]) -> str:
    """The rules of a form, as the text of a draft's setting, with what its button does: ``add``, ``up.2``."""
    texts: dict[int, dict[int, dict[str, str]]] = {}
    for name, text in form.items():
        if match := _FIELD.fullmatch(name):
            texts.setdefault(int(match[1]), {}).setdefault(int(match[2]), {})[match[3]] = str(text)
    chains = [[_written(links[depth]) for depth in sorted(links)] for _number, links in sorted(texts.items())]
    act, _dot, number = form.get("do", "").partition(".")
    chains = _done(chains[:MOST_RULES], act, read_number(number))
    rules = [_nested(chain) for chain in chains]
    return msgspec.json.encode(rules, order="sorted").decode() if rules else ""


def _done(chains: list[list[Written]], act: str, place: int) -> list[list[Written]]:
    new: Written = {"name": RuleName.PROVIDED.value}
    if act == "add":
        return [*chains, [new]]
    if place >= len(chains):
        return chains
    chain, others = chains[place], [*chains[:place], *chains[place + 1 :]]
    acts: dict[str, Callable[[], list[list[Written]]]] = {
        "remove": lambda: others,
        "up": lambda: [*others[: max(0, place - 1)], chain, *others[max(0, place - 1) :]],
        "down": lambda: [*others[: place + 1], chain, *others[place + 1 :]],
        "above": lambda: [*chains[:place], [*chain, new], *chains[place + 1 :]],
        "root": lambda: [*chains[:place], chain[:-1] or chain, *chains[place + 1 :]],
    }
    return acts[act]() if act in acts else chains


def _written(texts: Mapping[str, str]) -> Written:
    """A rule of our own form, without what is not set, as ``write_rules`` has it."""
    whom: Written = {name: _names(texts.get(name, "")) for name in ("users", "groups")}
    whom = {name: names for name, names in whom.items() if names}
    kind = texts.get("type", "allow")
    rule: Written = {
        "name": texts.get("name", ""),
        "value": texts.get("value", "").strip(),
        "create": texts.get("create") == "true",
        "filter": {"type": kind, **whom} if whom or kind != "allow" else {},
    }
    return {name: value for name, value in rule.items() if value}


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _nested(chain: Iterable[Written]) -> Written:
    nested: Written = {}
    for rule in reversed(list(chain)):
        nested = {**rule, **({"parent": nested} if nested else {})}
    return nested
