"""Parsing and formatting of fair-sharing weights as Kubernetes quantities such as ``2``, ``0.5`` or ``500m``."""

from engine.formats.tree_json.amounts import LARGEST, AmountError
from engine.model.message import gettext_noop
from engine.model.quantities import QuantityError, parse_quantity
from engine.model.queue_tree import WEIGHT_ONE

_SUFFIXES = {"m": 10**6, "u": 10**3, "n": 1}
"""Suffix of a quantity -> its unit in billionths."""


def read_weight(text: str) -> int:
    """Parse a weight into billionths. Raise AmountError, which says what is wrong."""
    try:
        weight = parse_quantity(text) * WEIGHT_ONE
    except QuantityError:
        raise AmountError(
            gettext_noop("%(value)s is not a valid weight. Enter a number such as 2 or 0.5."), value=text
        ) from None
    if weight < 0:
        raise AmountError(gettext_noop("%(value)s is less than zero."), value=text)
    if weight.denominator != 1:
        raise AmountError(gettext_noop("%(value)s is too precise. Use at most nine decimals."), value=text)
    if weight > LARGEST:
        raise AmountError(gettext_noop("%(value)s is too large for a weight."), value=text)
    return int(weight)


def as_quantity(weight: int) -> str:
    """Format a weight as a Kubernetes quantity, for example ``1500m``."""
    if weight % WEIGHT_ONE == 0:
        return str(weight // WEIGHT_ONE)
    return next(f"{weight // scale}{suffix}" for suffix, scale in _SUFFIXES.items() if weight % scale == 0)
