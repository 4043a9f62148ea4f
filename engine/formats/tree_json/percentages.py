"""Amounts as percentages, such as ``40%``: of the nearest queue above that sets the amount, else of the cluster.

A share is an exact integer in thousandths of a percent. Its amount is rounded down to the resource's unit, so that
shares of up to 100 % in total never exceed their base.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from engine.formats.tree_json.amounts import LARGEST, AmountError
from engine.model.message import gettext_noop
from engine.model.notes import DocumentPlace, NoteCollector
from engine.model.quantities import Amounts, format_amount
from engine.model.queue_settings import BY_NAME, SETTINGS
from engine.model.queue_tree import Queue, Settings, Shares

WHOLE = 100_000
"""A hundred percent, in thousandths of a percent."""
FIELDS = tuple(setting.name for setting in SETTINGS if setting.share_attribute)
"""The settings whose amounts may be given as percentages."""
_NO_SHARES: Mapping[str, Shares] = {BY_NAME[field].share_attribute: {} for field in FIELDS}
_SHARE = re.compile(r"(\d{1,6})(?:\.(\d{1,3}))?\s*%", re.ASCII)
_NOTHING_KNOWN = gettext_noop(
    "%(value)s can't be converted to an amount: no parent queue sets this value, and the capacity of the "
    "cluster is unknown. Enter an amount."
)
_DIFFERING = gettext_noop(
    "%(value)s can't be converted to an amount: no parent queue sets this value, and the clusters that "
    "use this tree have different capacities. Enter an amount."
)
_Some = TypeVar("_Some", bound=Settings)


class PercentageBase(msgspec.Struct, frozen=True):
    """The amounts that percentages of the whole cluster refer to."""

    amounts: Amounts = {}
    differing: frozenset[str] = frozenset()
    """Resources of which the clusters that share the tree hold different amounts."""

    @classmethod
    def of(cls, clusters: Iterable[Mapping[str, int]]) -> "PercentageBase":
        """Return the base for a tree that these clusters share: the amounts that are the same in all of them."""
        all_clusters = list(clusters)
        names = {name for cluster in all_clusters for name in cluster}
        equal_names = {name for name in names if len({cluster.get(name, 0) for cluster in all_clusters}) == 1}
        return cls({name: all_clusters[0][name] for name in sorted(equal_names)}, frozenset(names - equal_names))

    def but(self, amounts: Mapping[str, int]) -> "PercentageBase":
        """Return a copy in which these amounts replace those of the same resources."""
        return PercentageBase({**self.amounts, **amounts}, self.differing - amounts.keys())


def is_share(text: str) -> bool:
    """Return whether a text is meant as a percentage."""
    return text.rstrip().endswith("%")


def read_share(text: str) -> int:
    """Parse a percentage: ``12.5 %`` as 12500. Raise AmountError, which says what is wrong."""
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        message = gettext_noop("%(value)s is not a valid percentage. Use at most three decimals, for example 12.5%%.")
        raise AmountError(message, value=text)
    return int(match[1]) * 1000 + int((match[2] or "").ljust(3, "0"))


def write_share(share: int) -> str:
    """Format a share as people type it: ``12.5%``."""
    whole, thousandths = divmod(share, 1000)
    return f"{whole}.{thousandths:03}".rstrip("0").rstrip(".") + "%"


def shares_of(settings: Settings, field: str) -> Shares:
    """Return the shares of one of FIELDS, by resource."""
    shares: Shares = getattr(settings, BY_NAME[field].share_attribute)
    return shares


def amounts_of(settings: Settings, field: str) -> Amounts:
    """Return the amounts of one of FIELDS, by resource."""
    amounts: Amounts = BY_NAME[field].of(settings)
    return amounts


def format_share(settings: Settings, field: str, resource: str) -> str:
    """Format a share with its resulting amount: ``40% = 32``."""
    amount = amounts_of(settings, field)[resource]
    return f"{write_share(shares_of(settings, field)[resource])} = {format_amount(resource, amount)}"


def without_shares(queue: Queue) -> Queue:
    """Return the queue with amounts only, for formats that have no shares."""
    template = queue.template and msgspec.structs.replace(queue.template, **_NO_SHARES)
    return msgspec.structs.replace(queue, template=template, **_NO_SHARES)


def _has_shares(queue: Queue) -> bool:
    both = (queue, queue.template) if queue.template else (queue,)
    return any(shares_of(settings, field) for settings in both for field in FIELDS)


class Resolution:
    """Computes the amounts of the shares in a tree; a share without a base is an error at its place."""

    def __init__(self, capacity: PercentageBase, book: NoteCollector) -> None:
        self.used: Amounts = {}
        """The amounts of the cluster's capacity that some share refers to."""
        self._capacity = capacity
        self._book = book
        self._unread = {(note.path, note.field) for note in book.notes}

    def settled(self, queues: Mapping[str, Queue], places: Mapping[str, int]) -> dict[str, Queue]:
        """Return the queues with the amounts of their shares; a share that can't be computed is left out.

        ``places``: path in lower case -> index of the queue in the document.
        """
        resolved = dict(queues)
        if not any(_has_shares(queue) for queue in queues.values()):  # true of nearly all trees
            return resolved
        for path in sorted(resolved, key=lambda path: path.count(".")):  # parents first
            place = DocumentPlace(index=places[path.lower()], path=path)
            queue = self._settled(resolved[path], place, resolved, resolved[path].parent)
            if queue.template is not None:
                template = self._settled(queue.template, place.at("template"), resolved, path)
                queue = msgspec.structs.replace(queue, template=template)
            resolved[path] = queue
        return resolved

    def _settled(
        self, settings: _Some, place: DocumentPlace, resolved: Mapping[str, Queue], above: str | None
    ) -> _Some:
        if not any(shares_of(settings, field) for field in FIELDS):
            return settings
        values: dict[str, dict[str, int]] = {}
        for field in FIELDS:
            amounts, shares = dict(amounts_of(settings, field)), {}
            for name, share in shares_of(settings, field).items():
                at = place.at(field, name)
                amount = self._amount(share, at, name, self._whole(share, at, (field, name), resolved, above))
                if amount is None:
                    self._unread.add((at.path, at.field))
                else:
                    amounts[name], shares[name] = amount, share
            values |= {BY_NAME[field].attribute: amounts, BY_NAME[field].share_attribute: shares}
        return msgspec.structs.replace(settings, **values)

    def _amount(self, share: int, at: DocumentPlace, name: str, whole: int | None) -> int | None:
        amount = None if whole is None else whole * share // WHOLE
        if amount is not None and amount > LARGEST:
            message = gettext_noop("%(value)s of %(amount)s is too large. An amount is a 64-bit integer.")
            self._book.error(at, message, value=write_share(share), amount=format_amount(name, whole or 0))
            return None
        return amount

    def _whole(
        self, share: int, at: DocumentPlace, setting: tuple[str, str], resolved: Mapping[str, Queue], above: str | None
    ) -> int | None:
        """Return the amount that a share refers to; None if it can't be read or, with an error, does not exist."""
        field, name = setting
        while above is not None and above in resolved:
            if name in amounts_of(resolved[above], field):
                return amounts_of(resolved[above], field)[name]
            if (above, DocumentPlace().at(field, name).field) in self._unread:
                return None
            above = resolved[above].parent
        if name not in self._capacity.amounts:
            message = _DIFFERING if name in self._capacity.differing else _NOTHING_KNOWN
            self._book.error(at, message, value=write_share(share))
            return None
        self.used[name] = self._capacity.amounts[name]
        return self.used[name]
