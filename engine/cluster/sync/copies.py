"""The cluster's own copy of a tree, wherever its scheduler keeps it, and the changes to be written."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec

from engine.cluster.errors import ClusterError
from engine.model.message import gettext_noop

MANAGER = "scheduler-admin"
"""The field manager's name in metadata.managedFields."""


@dataclass(frozen=True, kw_only=True)
class ClusterCopy:
    """The content of the cluster's copy of a tree in a certain version."""

    namespace: str = ""
    """The namespace of the copy; empty where it has none."""
    text: str
    version: str
    """Differs whenever the content differs."""
    writer: str = ""
    """The last writer; empty where the API server does not record it."""
    written_at: datetime | None = None


class CopyEffect(StrEnum):
    """Whether the scheduler uses the copy: a document that is written need not be the one in use."""

    UNKNOWN = "unknown"
    """The scheduler could not be asked."""
    PENDING = "pending"
    """The scheduler uses another document, and may not have seen this one yet."""
    APPLIED = "applied"
    REJECTED = "rejected"
    """The scheduler uses another document, or only a part of this one."""


@dataclass(frozen=True, kw_only=True)
class SchedulerAnswer:
    """The answer of a scheduler about the document in use."""

    effect: CopyEffect
    why: str = ""
    """The reason in the scheduler's own words, if it has any; for UNKNOWN why it could not be asked."""


class FieldConflict(msgspec.Struct, frozen=True):
    """A field that another manager wrote and owns."""

    object: str
    """The object, such as ``ClusterQueue team-a``."""
    field: str
    message: str
    """The conflicting manager, and since when, in the API server's words."""


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """A change that somebody wants to write to the cluster's copy."""

    onto: str
    """The version that they saw."""
    before: str
    """The content of that version."""
    text: str
    confirmed: tuple[FieldConflict, ...] = ()
    """Fields of other managers that they agreed to take over."""


class CopyChangedError(ClusterError):
    """Raised when the copy has changed since it was seen, or no longer exists."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop("Someone else changed the cluster’s configuration in the meantime. Nothing was written.")
        )


class FieldConflictError(ClusterError):
    """Raised when other managers own fields that a change affects. Nothing was done."""

    def __init__(self, conflicts: tuple[FieldConflict, ...]) -> None:
        super().__init__(
            gettext_noop(
                "Other field managers own fields that this change affects. Confirm that you want to take ownership."
            )
        )
        self.conflicts = conflicts
