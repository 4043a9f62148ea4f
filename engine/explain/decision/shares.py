"""Explains the share of a queue as a number with its parts."""

from engine.model.message import Message, gettext_noop
from engine.model.quantities import format_amount
from engine.model.quota import ShareParts
from engine.policies import QueueShare, ShareBasis

BORROWS = gettext_noop("%(share)s: borrows %(borrowed)s of %(lendable)s %(resource)s lendable, weight %(weight)s")
NOTHING = gettext_noop("%(share)s: borrows nothing")
USES = gettext_noop("%(share)s: uses %(amount)s of %(whole)s %(resource)s in the cluster, weight %(weight)s")
USES_NOTHING = gettext_noop("%(share)s: uses nothing")
OF_NOBODY = gettext_noop("%(share)s: borrows quota that its cohort can’t lend")


def readable(share: str) -> str:
    """Return a share as Kueue shows it, with at most two decimal places."""
    return f"{float(share):.2f}".rstrip("0").rstrip(".") if "." in share else share


def share_sentence(share: ShareParts) -> Message:
    """Return ``187.5: borrows 3 cpu of 16 lendable, weight 1``; a label rather than a sentence."""
    if not share.resource:
        return Message(OF_NOBODY if share.borrows else NOTHING, {"share": readable(share.text)})
    return Message(
        BORROWS,
        {
            "share": readable(share.text),
            "borrowed": format_amount(share.resource, share.borrowed),
            "resource": share.resource,
            "lendable": format_amount(share.resource, share.lendable),
            "weight": share.weight,
        },
    )


def queue_share_sentence(share: QueueShare) -> Message:
    """Return a queue's share with the values that it is computed from; a dominant share in percent."""
    if share.basis is ShareBasis.BORROWED:
        return share_sentence(
            ShareParts(
                text=share.value,
                weight=share.weight,
                borrows=share.borrows,
                resource=share.resource,
                borrowed=share.amount,
                lendable=share.whole,
            )
        )
    if not share.resource:
        return Message(USES_NOTHING, {"share": percent(share.value)})
    return Message(
        USES,
        {
            "share": percent(share.value),
            "amount": format_amount(share.resource, share.amount),
            "whole": format_amount(share.resource, share.whole),
            "resource": share.resource,
            "weight": share.weight,
        },
    )


def percent(share: str) -> str:
    """Return a share between 0 and 1 in percent, with at most two decimal places."""
    return share if share == "+Inf" else f"{readable(repr(float(share) * 100))}%"
