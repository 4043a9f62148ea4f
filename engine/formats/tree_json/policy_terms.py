"""By which policy a tree is enforced, as people choose it in a form: policy, dialect and parameters as texts."""

from collections.abc import Mapping
from typing import Any

from engine.model.notes import DocumentPlace, Note, Notebook, gettext_noop
from engine.policies import known_dialects, parameters_of
from engine.policies.common.parameters import text_of, value_of


def read_parameters(policy: str, dialect: str, typed: Mapping[str, str]) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """The parameters of a policy, and what is wrong with it, its dialect or any of them, each at its place.

    An empty text is the default, and left out; so is what was typed for another policy, which this one does not have.
    """
    found: dict[str, Any] = {}
    book, known = Notebook(), known_dialects().get(policy)
    if known is None:
        message = gettext_noop("This version can't decide by policy %(policy)s.")
        book.error(DocumentPlace().at("policy"), message, policy=policy)
    elif dialect not in known:
        message = gettext_noop("The dialect of policy %(policy)s is one of: %(known)s.")
        book.error(DocumentPlace().at("dialect"), message, policy=policy, known=", ".join(known))
    for parameter in parameters_of(policy, dialect):
        text = typed.get(parameter.name, "")
        try:
            found |= {parameter.name: value_of(parameter, text)} if text else {}
        except ValueError:
            message = gettext_noop("%(value)s is not one of: %(known)s.")
            known_texts = ", ".join(parameter.choices)
            book.error(DocumentPlace().at("parameters", parameter.name), message, value=text, known=known_texts)
    return found, tuple(book.notes)


def write_parameters(parameters: Mapping[str, Any]) -> dict[str, str]:
    """What ``read_parameters`` reads back."""
    return {name: text_of(value) for name, value in parameters.items()}
