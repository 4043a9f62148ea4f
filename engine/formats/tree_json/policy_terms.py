"""Conversion between the policy, dialect and parameters of a tree and the texts of a form."""

from collections.abc import Mapping
from typing import Any

from engine.model.message import gettext_noop
from engine.model.notes import DocumentPlace, Note, NoteCollector
from engine.policies import known_dialects, parameters_of
from engine.policies.common.parameters import format_value, parse_value


def read_parameters(policy: str, dialect: str, typed: Mapping[str, str]) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Parse the parameters of a policy; also return errors about the policy, its dialect and each parameter.

    An empty text selects the default and is left out. Parameters that this policy does not have, which were typed for
    another policy, are left out too.
    """
    parameters: dict[str, Any] = {}
    book, known = NoteCollector(), known_dialects().get(policy)
    if known is None:
        message = gettext_noop("This version does not support policy %(policy)s.")
        book.error(DocumentPlace().at("policy"), message, policy=policy)
    elif dialect not in known:
        message = gettext_noop("The dialect of policy %(policy)s must be one of: %(known)s.")
        book.error(DocumentPlace().at("dialect"), message, policy=policy, known=", ".join(known))
    for parameter in parameters_of(policy, dialect):
        text = typed.get(parameter.name, "")
        try:
            parameters |= {parameter.name: parse_value(parameter, text)} if text else {}
        except ValueError:
            message = gettext_noop("%(value)s is not allowed. Allowed values: %(known)s.")
            known_texts = ", ".join(parameter.choices)
            book.error(DocumentPlace().at("parameters", parameter.name), message, value=text, known=known_texts)
    return parameters, tuple(book.notes)


def write_parameters(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Format parameters as the texts that ``read_parameters`` reads back."""
    return {name: format_value(value) for name, value in parameters.items()}
