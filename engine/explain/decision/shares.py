"""Explains a share under fair sharing as a number with its parts."""

from engine.model.message import Message, gettext_noop
from engine.model.quantities import format_amount
from engine.model.quota import ShareParts

BORROWS = gettext_noop("%(share)s: borrows %(borrowed)s of %(lendable)s %(resource)s lendable, weight %(weight)s")
NOTHING = gettext_noop("%(share)s: borrows nothing")
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
