"""Which ID tokens a workload identity stands for: claims that a token must have, exactly or by a pattern."""

import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from scheduler_admin.core import limits

_NAME = re.compile(r"[\x21-\x7e]+")
_RESERVED = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti"})
"""Claims that are checked anyway, or differ from token to token."""
_LEAST = 3
"""Characters of a pattern beside ``*``: one with fewer would let in whoever the issuer knows."""


def check_claims(value: Any) -> None:
    """Raise ValidationError for anything but one or more claims, each with a text that tells whose token it is."""
    if not isinstance(value, dict) or not value:
        raise ValidationError(_("Specify at least one claim, such as sub."))
    if len(value) > limits.CLAIMS:
        raise ValidationError(_("Specify at most %(most)s claims."), params={"most": limits.CLAIMS})
    for name, pattern in value.items():
        _check_claim(name, pattern)


def _check_claim(name: Any, pattern: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > limits.CLAIM_NAME or name in _RESERVED:
        raise ValidationError(_("%(name)s cannot be the name of a claim here."), params={"name": str(name)[:50]})
    if not isinstance(pattern, str) or len(pattern) > limits.CLAIM_PATTERN or "\0" in pattern:
        raise ValidationError(_("The value of the claim %(name)s must be a text."), params={"name": name})
    if "*" in pattern and len(pattern.replace("*", "")) < _LEAST:
        sentence = _("The pattern of the claim %(name)s matches almost every token. Make it more specific.")
        raise ValidationError(sentence, params={"name": name})
    if not pattern:
        raise ValidationError(_("The value of the claim %(name)s is empty."), params={"name": name})


def match(wanted: Mapping[str, str], claims: Mapping[str, Any]) -> bool:
    """Whether a token has all claims that are wanted. ``*`` in a pattern matches any characters."""
    return bool(wanted) and all(_matches(pattern, claims.get(name)) for name, pattern in wanted.items())


def specificity(wanted: Mapping[str, str]) -> tuple[int, int]:
    """Return what is greater for claims that say more: how many there are, then how many characters are given."""
    return len(wanted), sum(len(pattern.replace("*", "")) for pattern in wanted.values())


def _matches(pattern: str, value: Any) -> bool:
    """GitLab sends numbers and truth values as texts, others as JSON has them."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    if not isinstance(value, str | int):
        return False
    first, *rest = pattern.split("*")
    return _in_order(str(value), first, rest) if rest else str(value) == first


def _in_order(text: str, first: str, rest: list[str]) -> bool:
    """Whether a text begins with ``first``, and has the rest after it in order, the last at its end.

    Each part is found where it occurs first, so the work does not grow with the number of parts as a regular
    expression's would.
    """
    *between, last = rest
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    left = text[len(first) : len(text) - len(last)]
    for part in between:
        _before, found, left = left.partition(part) if part else ("", "*", left)
        if not found:
            return False
    return True
