"""The chain that revisions form: each holds a digest of what it says and of the digest of the one before."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import msgspec
from django.utils.translation import gettext as _

from scheduler_admin.queues.models import Hierarchy, Revision

SAID = (
    "number",
    "document",
    "source_format",
    "source",
    "policy",
    "dialect",
    "parameters",
    "author_name",
    "reason",
)
"""What a digest is of, beside the digest of the parent: all that a revision says but when it was published."""


@dataclass(frozen=True)
class Break:
    """The first revision of a hierarchy that does not hold, and why."""

    number: int
    reason: str


def digest_of(revision: Revision) -> str:
    """SHA-256, in hex, over a revision and the digest of its parent, and so over all that were before it.

    Every revision has another one, also where it says the same as a former one. It is of all queues: for those alone
    who see them all.
    """
    said = {name: getattr(revision, name) for name in SAID}
    said["parent"] = revision.parent.digest if revision.parent else None
    return sha256(msgspec.json.encode(said, order="sorted")).hexdigest()


def first_break(hierarchy: Hierarchy) -> Break | None:
    """The first revision that is not as it was published, or does not follow on the one before; None: all hold."""
    rows = hierarchy.revisions.select_related("parent").defer("parent__document", "parent__source").order_by("number")
    return next(_breaks(hierarchy, rows.iterator(chunk_size=50)), None)


def _breaks(hierarchy: Hierarchy, rows: Iterator[Revision]) -> Iterator[Break]:
    before: Revision | None = None
    for row in rows:
        if row.parent_id != (before.pk if before else None):
            yield Break(row.number, _("it does not follow the previous revision"))
        elif row.digest != digest_of(row):
            yield Break(row.number, _("its content differs from what was published"))
        before = row
    if before and hierarchy.current_id != before.pk:
        yield Break(before.number, _("it is the newest revision, but another one is current"))
