"""How a draft's tree decides: its policy, dialect and parameters, each a choice with what it means."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from engine.model.notes import Note
from engine.policies import find, foreign_dialects, known_dialects, parameters_of, texts_of
from engine.policies.common.parameters import Parameter
from scheduler_admin.queues.drafts.selectors import DraftState
from scheduler_admin.queues.drafts.tree_document import capacities, text_of
from scheduler_admin.queues.models import Draft, Revision
from scheduler_admin.queues.notes import setting_of
from scheduler_admin.queues.presenters.setting_words import setting_name, text_in_words


@dataclass(frozen=True)
class Choice:
    """What a term may say."""

    text: str
    word: str


@dataclass(frozen=True)
class Term:
    """A policy, a dialect or a parameter, where it is chosen or, without choices, typed.

    ``was``: its word in the base; empty: the same.
    """

    setting: str
    text: str
    choices: tuple[Choice, ...]
    meaning: str
    was: str
    errors: tuple[Note, ...]

    @property
    def name(self) -> str:
        """As people read it."""
        return setting_name(self.setting)

    @property
    def word(self) -> str:
        """What it says, for reading."""
        return next((one.word for one in self.choices if one.text == self.text), self.text)

    @property
    def id(self) -> str:
        """Of the element."""
        return f"f0-{self.setting}"


def terms(state: DraftState) -> list[Term]:
    """All that there are under the policy that is chosen."""
    draft = state.draft
    given = [
        ("policy", _policies(), _meaning(draft.policy)),
        ("dialect", _dialects(draft.policy), _dialect_meaning(draft.policy, draft.dialect)),
    ]
    given += [
        (f"parameters/{one.name}", _values(one), _parameter_meaning(one.name))
        for one in parameters_of(draft.policy, draft.dialect)
    ]
    kept = _("The total capacity of all nodes. It stays fixed until you choose it again.")
    given += [(f"capacity/{name}", _held(draft, name), kept) for name in sorted(_used(state))]
    return [_term(state, *one) for one in given]


def _term(state: DraftState, setting: str, choices: tuple[Choice, ...], meaning: str) -> Term:
    text = text_of(state.draft, setting)
    if choices and text not in [one.text for one in choices]:
        choices = (*choices, Choice(text, text))
    field, _slash, name = setting.partition("/")
    changed = next((one for one in state.beside if (one.field, one.resource) == (field, name)), None)
    words = {one.text: one.word for one in choices}
    was = words.get(changed.before, changed.before) if changed else ""
    errors = [one for one in state.errors if setting_of(one) == setting]
    return Term(setting, text, choices, meaning, was, tuple(errors))


def _used(state: DraftState) -> set[str]:
    """Of what resources there are percentages of the whole cluster."""
    return set(state.tree.capacity) & state.draft.capacity.keys() if state.tree else set()


def _held(draft: Draft, resource: str) -> tuple[Choice, ...]:
    words = {"now": _("%(amount)s (current capacity)"), "base": _("%(amount)s (capacity at publication)")}
    return tuple(Choice(text, words[since] % {"amount": text}) for text, since in capacities(draft, resource).items())


def _policies() -> tuple[Choice, ...]:
    words = [(value, str(word)) for value, word in Revision.Policy.choices]
    return tuple(Choice(value, word) for value, word in words if value in known_dialects())


def _dialects(policy: str) -> tuple[Choice, ...]:
    names = known_dialects().get(policy, ())
    return tuple(
        Choice(
            name,
            _("%(dialect)s (explanation only, can't be enforced)") % {"dialect": name}
            if name in foreign_dialects()
            else name,
        )
        for name in names
    )


def _values(parameter: Parameter) -> tuple[Choice, ...]:
    if not parameter.choices:
        return ()
    setting = f"parameters/{parameter.name}"
    default = _("default: %(text)s") % {"text": text_in_words(setting, parameter.default)}
    return (Choice("", default), *(Choice(text, text_in_words(setting, text)) for text in parameter.choices))


def _meaning(policy: str) -> str:
    return _(texts_of(policy).summary) if policy in known_dialects() else ""


def _dialect_meaning(policy: str, dialect: str) -> str:
    return _(find(policy, dialect).texts.dialect) if dialect in known_dialects().get(policy, ()) else ""


def _parameter_meaning(name: str) -> str:
    return {
        "last_resort": _(
            "Which pending pods can preempt pods that opted out of preemption when nothing else frees enough capacity."
        ),
        "check_delay": _("Whether pending pods wait for their queue's preemption delay before they can preempt."),
        "preemption": _("Whether pending pods can preempt at all."),
        "guarantees": _(
            "Whether a parent's guarantee includes its children's guarantees or is added to them, as in Kueue."
        ),
        "within_queue": _(
            "Which pods a queue's pending pods can preempt in their own queue, if the queue does not set this itself."
        ),
        "reclaim": _(
            "Which pods a queue's pending pods can preempt in other queues that borrow, if the "
            "queue does not set this itself."
        ),
        "while_borrowing": _("Whether pending pods can preempt pods of other queues while their own queue borrows."),
        "method": _("How the cluster is divided among queues: all resources together, or each resource separately."),
        "node_fit": _(
            "Whether the victims must free enough capacity on one node, or together anywhere in the cluster."
        ),
        "budgets": _(
            "Applies in the Advise and Enforce modes: choose victims within their disruption budgets, or "
            "as kube-scheduler does."
        ),
        "high_priority": _(
            "Priority classes, separated by commas, whose pods can preempt beyond their queue's deserved share."
        ),
        "strategies": _(
            "Which share of the victim's queue is compared: the final share after preemption, "
            "the initial share before it, or both in turn."
        ),
    }[name]
