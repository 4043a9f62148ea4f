"""No text about a decision for a group names one pending pod: each has its counterpart that names the group."""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import msgspec
import pytest

from engine.explain import for_group
from engine.explain.group_wording import PLURALS, TEXTS
from engine.model.message import Message, plural_message

SINGLE = re.compile(r"\b([Tt]he|[Aa]nother|[Aa]) pending pod\b|\b[Tt]he pod (is pending|is not|requests|was chosen)")
"""What means one pending pod."""
MODULES = (
    *(f"engine.explain.decision.{name}" for name in ("invariants", "verdicts", "reasons", "gangs", "groups", "holds")),
    *(f"engine.explain.decision.{name}" for name in ("sentence", "sentence_texts", "deserved", "priority", "shares")),
    *("engine.explain.anomalies", "engine.explain.remedies", "engine.explain.change_texts"),
    *("engine.explain.observed.evictions", "engine.explain.observed.replay"),
    *(f"engine.policies.{name}.texts" for name in ("fence", "priority", "deserved")),
    *("scheduler_admin.decisions.sentences", "scheduler_admin.decisions.presenters.pods"),
)
"""Where the texts of decisions are that may be about a group."""
ELSEWHERE = (
    "%(pod)s would be spared if the pending pod requested %(less)s less.",
    "(now %(max)s, using %(used)s): the pending pod would then fit below it.",
    "The pending pod was bound to",
    "The pending pod was deleted",
    "The scheduler found no room for the pending pod.",
    "was reserved for the pending pod.",
    "The pod was chosen for eviction.",
    "the pending pod’s own queue.",
    "The pending pod fits into the quota",
    "Rejected: the pending pod does not fit into the quota",
)
"""Texts, or a part of each, that no group's decision has, or has in other words."""
BY_QUOTA = (
    "is in %(queue)s, like the pending pod, and",
    "for a pending pod that borrows",
    "the rules of the pending pod",
    "the pending pod’s side",
)
"""Likewise, of policies that decide by quota, for no group."""


def texts(of: Any) -> Iterator[tuple[str, ...]]:
    """Yield every text of a module, with its plural where it counts."""
    for name, value in vars(of).items():
        yield from _in(value) if name != "__doc__" else ()


def _in(value: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(value, str):
        yield (value,)
    elif isinstance(value, tuple) and value and all(isinstance(one, str) for one in value):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _in(one)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _in(getattr(value, name))


def single() -> set[str]:
    """Return the texts that mean one pending pod."""
    found = {forms[0] for module in MODULES for forms in texts(import_module(module)) if SINGLE.search(forms[0])}
    left_out = (*ELSEWHERE, *BY_QUOTA)
    return {text for text in found if "\n" not in text and not any(part in text for part in left_out)}


def test_every_text_that_means_one_pod_has_its_counterpart() -> None:
    assert sorted(single() - TEXTS.keys() - PLURALS.keys()) == []


@pytest.mark.parametrize("text", [*TEXTS.values(), *(form for forms in PLURALS.values() for form in forms)])
def test_no_counterpart_means_one_pod(text: str) -> None:
    assert not SINGLE.search(text)


@pytest.mark.parametrize("text", [*TEXTS, *PLURALS])
def test_a_counterpart_is_of_a_text_that_there_is(text: str) -> None:
    """And takes no figure that the text does not have."""
    there = {forms[0] for module in MODULES for forms in texts(import_module(module))}
    there |= {forms[0] for forms in texts(import_module("engine.policies.priority.texts"))}
    assert text in there
    names = set(re.findall(r"%\((\w+)\)s", text))
    counterpart = PLURALS[text] if text in PLURALS else (TEXTS[text],)
    assert all(set(re.findall(r"%\((\w+)\)s", form)) <= names for form in counterpart)


def test_a_message_is_said_in_the_words_for_a_group() -> None:
    """With those of its figures that the words take; others stay as they are."""
    taken = Message(
        "Its victims were evicted in vain: other pods took the room on %(node)s first. kube-scheduler does not reserve "
        "it.",
        {"node": "n1"},
    )
    assert str(for_group(taken)) == (
        "Its victims were evicted in vain: other pods took the room first. kube-scheduler does not reserve it."
    )
    counted = plural_message(("%(count)s victim", "%(count)s victims"), 2)
    assert for_group(counted) == counted
