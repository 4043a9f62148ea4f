"""Parsing of resource amounts as people type them, with suggestions for mistyped units."""

import re
from functools import lru_cache

from engine.model.message import MessageError, gettext_noop
from engine.model.quantities import CPU, QuantityError, base, is_bytes, parse_amount, parse_quantity

LARGEST = 2**63 - 1
"""Largest amount: every system that reads these documents uses 64-bit integers."""

_NEAR_MISS = re.compile(r"(\d{1,20}(?:[.,]\d{1,20})?)\s*([A-Za-z]*)", re.ASCII)


_FINER = gettext_noop("%(value)s is too precise. The smallest amount of CPU is 0.001 (1m).")
_BROKEN = gettext_noop("%(value)s is not a whole number. Enter a whole number for %(resource)s.")


class AmountError(MessageError, ValueError):
    """A text that is not a valid amount."""


@lru_cache(maxsize=4096)  # an editor rereads its whole tree after every edit
def read_amount(resource: str, text: str, *, saturate: bool = False) -> int:
    """Parse an amount of a resource into its integer unit. Raise AmountError, which suggests what may have been meant.

    ``saturate``: clamp an amount beyond 64 bits to the largest number, as Kubernetes does in its objects.
    """
    try:
        amount = parse_amount(resource, text)
    except QuantityError:
        raise _not_an_amount(text) from None
    if amount < 0:
        raise AmountError(gettext_noop("%(value)s is less than zero."), value=text)
    if amount > LARGEST and saturate:
        return LARGEST
    if amount > LARGEST:
        raise AmountError(gettext_noop("%(value)s is too large. An amount is a 64-bit integer."), value=text)
    exact = parse_quantity(text) * (1000 if base(resource) == CPU else 1)
    if exact != amount and not is_bytes(resource):  # a fraction of a byte does not matter
        raise AmountError(_FINER if base(resource) == CPU else _BROKEN, value=text, resource=resource)
    return amount


def _not_an_amount(text: str) -> AmountError:
    match suggestions(text):
        case (one, other):
            message = gettext_noop("%(value)s is not a valid amount. Did you mean %(one)s or %(other)s?")
            return AmountError(message, value=text, one=one, other=other)
        case (one,):
            return AmountError(
                gettext_noop("%(value)s is not a valid amount. Did you mean %(one)s?"), value=text, one=one
            )
        case _:
            return AmountError(gettext_noop("%(value)s is not a valid amount."), value=text)


def suggestions(text: str) -> tuple[str, ...]:
    """Return the amounts that a text with a mistyped unit may mean: ``128Gb`` -> ``128Gi``, ``128G``."""
    match = _NEAR_MISS.fullmatch(text.strip())
    if match is None:
        return ()
    number, letters = match[1].replace(",", "."), match[2]
    if letters in ("", "m"):
        return (f"{number}{letters}",)
    scale, suffix = letters[0].upper(), letters[1:].lower()
    if scale not in "KMGTPE":
        return ()
    binary, decimal = f"{number}{scale}i", f"{number}{'k' if scale == 'K' else scale}"
    if suffix in ("i", "ib"):
        return (binary,)
    return (binary, decimal) if suffix in ("", "b") else ()
