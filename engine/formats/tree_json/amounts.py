"""Amounts as people type them into a document or a form, and what they may have meant when they mistyped one."""

import re
from functools import lru_cache

from engine.model.notes import gettext_noop
from engine.model.quantities import CPU, QuantityError, base, is_bytes, parse_amount, parse_quantity

LARGEST = 2**63 - 1
"""Amounts are 64-bit integers in every system that these documents go to."""

_NEAR_MISS = re.compile(r"(\d{1,20}(?:[.,]\d{1,20})?)\s*([A-Za-z]*)", re.ASCII)


_FINER = gettext_noop("%(value)s is finer than a thousandth of a core.")
_BROKEN = gettext_noop("%(value)s is not a whole number: %(resource)s comes in whole ones.")


class AmountError(ValueError):
    """A text that is no amount here. ``message`` is the message id, ``params`` fill its names."""

    def __init__(self, message: str, **params: str) -> None:
        super().__init__(message % params)
        self.message = message
        self.params = params


@lru_cache(maxsize=4096)  # an editor reads its whole tree after every act
def read_amount(resource: str, text: str, *, saturate: bool = False) -> int:
    """The amount in its integer unit. Raises AmountError, which says what may have been meant.

    ``saturate``: what is beyond 64 bits counts as the largest number there is, as in the objects of Kubernetes.
    """
    try:
        amount = parse_amount(resource, text)
    except QuantityError:
        raise _not_an_amount(text) from None
    if amount < 0:
        raise AmountError(gettext_noop("%(value)s is below zero."), value=text)
    if amount > LARGEST and saturate:
        return LARGEST
    if amount > LARGEST:
        raise AmountError(gettext_noop("%(value)s is too large: amounts have 64 bits."), value=text)
    exact = parse_quantity(text) * (1000 if base(resource) == CPU else 1)
    if exact != amount and not is_bytes(resource):  # of a byte nobody minds a fraction
        raise AmountError(_FINER if base(resource) == CPU else _BROKEN, value=text, resource=resource)
    return amount


def _not_an_amount(text: str) -> AmountError:
    match suggestions(text):
        case (one, other):
            message = gettext_noop("%(value)s is not an amount. Did you mean %(one)s or %(other)s?")
            return AmountError(message, value=text, one=one, other=other)
        case (one,):
            return AmountError(gettext_noop("%(value)s is not an amount. Did you mean %(one)s?"), value=text, one=one)
        case _:
            return AmountError(gettext_noop("%(value)s is not an amount."), value=text)


def suggestions(text: str) -> tuple[str, ...]:
    """What an amount with a mistyped unit may have been meant to be: ``128Gb`` -> ``128Gi``, ``128G``."""
    match = _NEAR_MISS.fullmatch(text.strip())
    if match is None:
        return ()
    number, letters = match[1].replace(",", "."), match[2]
    if letters in ("", "m"):
        return (f"{number}{letters}",)
    scale, rest = letters[0].upper(), letters[1:].lower()
    if scale not in "KMGTPE":
        return ()
    binary, decimal = f"{number}{scale}i", f"{number}{'k' if scale == 'K' else scale}"
    if rest in ("i", "ib"):
        return (binary,)
    return (binary, decimal) if rest in ("", "b") else ()
