"""Kubernetes quantities as exact integers.

Amounts are held in one integer unit per resource: thousandths of a core for ``cpu``, and the base unit (bytes, devices,
pods) for everything else. A fraction of a unit is rounded up, as Kubernetes' ``MilliValue`` and ``Value`` do.
"""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

Amounts = dict[str, int]
"""Resource name -> amount in its integer unit. A missing resource means that nothing is requested, or not limited."""

CPU = "cpu"
PODS = "pods"
DOMINANT = "dominant-share"
"""The key of ``dominant_share``, in millionths of the cluster, where amounts are reported by resource."""
FLAVOR = "@"
"""The separator between a resource and the flavor of nodes that an amount of it is for: ``cpu@spot``."""

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}
_SCALES: dict[str, Fraction] = {**_DECIMAL, **{suffix: Fraction(scale) for suffix, scale in _BINARY.items()}}
_BINARY_UNITS, _DECIMAL_UNITS = ("", *_BINARY), ("", *(suffix for suffix, scale in _DECIMAL.items() if scale > 1))
"""The units of bytes of each kind, each 1,000 or 1,024 times as large as the one before."""
_NUMBER = r"\d{1,99}\.?\d{0,99}|\.\d{1,99}"  # Python refuses to read a number of very many digits
_QUANTITY = re.compile(rf"([+-]?)({_NUMBER})(?:([eE])([+-]?\d{{1,3}})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)


_DOMAIN = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"
_NAME = re.compile(rf"({_DOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?({FLAVOR}{_DOMAIN})?")


def is_resource_name(name: str) -> bool:
    """Return whether the name is valid for a Kubernetes resource (``cpu``, ``nvidia.com/gpu``), a flavor aside."""
    return _NAME.fullmatch(name) is not None


@lru_cache(maxsize=1024)  # clusters have a few dozen
def base(resource: str) -> str:
    """Return the resource without its flavor: ``cpu`` for ``cpu@spot``."""
    return resource.partition(FLAVOR)[0]


class QuantityError(ValueError):
    """A text that is not a Kubernetes quantity. ``str()`` of it is a sentence for the person who typed it."""


@lru_cache(maxsize=8192, typed=True)  # a tree repeats the same few hundred amounts many times
def parse_quantity(text: str | float) -> Fraction:
    """Return the exact value of a Kubernetes quantity such as ``1500m``, ``32Gi``, ``1e3`` or ``2``.

    Raises QuantityError for anything else. Source: the grammar of k8s.io/apimachinery/pkg/api/resource.
    """
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None:
        raise QuantityError(f"{text} is not a valid amount")
    sign, digits, _, exponent, suffix = match.groups()
    value = Fraction(digits) * (Fraction(10) ** int(exponent) if exponent else _SCALES[suffix or ""])
    return -value if sign == "-" else value


def parse_amount(resource: str, text: str | float) -> int:
    """Return a quantity of ``resource`` in its integer unit, rounded up. Raises QuantityError."""
    value = parse_quantity(text) * (1000 if base(resource) == CPU else 1)
    return -((-value.numerator) // value.denominator)


@lru_cache(maxsize=1024)
def is_bytes(resource: str) -> bool:
    """Return whether amounts of the resource are bytes."""
    resource = base(resource)
    return resource == "memory" or resource.endswith("storage") or resource.startswith("hugepages-")


def column(resource: str) -> tuple[bool, bool, str]:
    """Return the sort key of a resource where people read lists of them: cpu and memory first, then by name."""
    return base(resource) != CPU, base(resource) != "memory", resource


def parse_amounts(quantities: Mapping[str, str | int | float] | None) -> Amounts:
    """Return every quantity of a Kubernetes resource list in its integer unit. Raises QuantityError."""
    return {resource: parse_amount(resource, text) for resource, text in (quantities or {}).items()}


@lru_cache(maxsize=4096)  # most queues of a large tree have the same few amounts
def format_amount(resource: str, amount: int) -> str:
    """Return the amount as people type it: ``1500m``, ``2``, ``32Gi``. ``parse_amount`` reads it back exactly."""
    if base(resource) == CPU:
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    return _bytes(amount) if is_bytes(resource) and amount else str(amount)


def _bytes(amount: int) -> str:
    """Return bytes in the unit with the shortest number: ``80G`` gives 80G, not 78125000Ki; ``1000Ki`` is kept."""
    zeros = (amount & -amount).bit_length() - 1  # at the end of the binary number
    power = min(zeros // 10, len(_BINARY_UNITS) - 1)
    binary, decimal, thousands = str(amount >> 10 * power), amount, 0
    while decimal % 1000 == 0 and thousands < len(_DECIMAL_UNITS) - 1:
        decimal, thousands = decimal // 1000, thousands + 1
    if thousands and (not power or len(str(decimal)) < len(binary)):
        return f"{decimal}{_DECIMAL_UNITS[thousands]}"
    return f"{binary}{_BINARY_UNITS[power]}"


def format_amounts(amounts: Mapping[str, int]) -> dict[str, str]:
    """Return every amount as people type it, in the order of the mapping."""
    return {resource: format_amount(resource, amount) for resource, amount in amounts.items()}


def total(many: Iterable[Mapping[str, int]]) -> Amounts:
    """Return the sum of many amounts, resource by resource."""
    result: Amounts = {}
    for amounts in many:
        for resource, amount in amounts.items():
            result[resource] = result.get(resource, 0) + amount
    return result


def add(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    """Return ``left + right``; a resource that is missing on one side counts as 0 there."""
    return total((left, right))


def subtract(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    """Return ``left - right``, which may be negative; a resource that is missing on one side counts as 0 there."""
    return total((left, {resource: -amount for resource, amount in right.items()}))


def fits(request: Mapping[str, int], free: Mapping[str, int]) -> bool:
    """Return whether every requested resource is free in that amount; nothing is free of an unlisted resource."""
    return all(amount <= free.get(resource, 0) for resource, amount in request.items() if amount > 0)


def dominant_share(held: Mapping[str, int], capacity: Mapping[str, int]) -> Fraction:
    """Return the largest share that is held of any resource of a cluster, not counting the number of pods."""
    parts = (Fraction(amount, capacity[name]) for name, amount in held.items() if name != PODS and capacity.get(name))
    return max(parts, default=Fraction(0))
