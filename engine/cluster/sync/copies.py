"""The cluster's own copy of a tree, wherever its scheduler keeps it: what is seen of it, and what is to be written."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec

from engine.cluster.errors import ClusterError
from engine.model.notes import gettext_noop

MANAGER = "scheduler-admin"
"""What the API server calls us in metadata.managedFields."""


@dataclass(frozen=True, kw_only=True)
class ClusterCopy:
    """What it says in one version."""

    namespace: str = ""
    """Where it is; empty: in none."""
    text: str
    version: str
    """Another one whenever it says something else."""
    writer: str = ""
    """Whoever wrote it last; empty where the API server does not tell."""
    written_at: datetime | None = None


class CopyEffect(StrEnum):
    """Whether the scheduler uses what the copy says: a document that is written need not be the one in use."""

    UNKNOWN = "unknown"
    """It could not be asked."""
    PENDING = "pending"
    """It uses another one, and may not have seen this one yet."""
    IN_FORCE = "in-force"
    REFUSED = "refused"
    """It uses another one, or a part of this one."""


@dataclass(frozen=True, kw_only=True)
class SchedulerAnswer:
    """What a scheduler answers when it is asked what it uses."""

    effect: CopyEffect
    why: str = ""
    """In the scheduler's own words, if it has any; for UNKNOWN why it could not be asked."""


class FieldConflict(msgspec.Struct, frozen=True):
    """A field that somebody else wrote, and answers for."""

    object: str
    """``ClusterQueue team-a``."""
    field: str
    message: str
    """With whom, and since when, in the API server's words."""


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """What somebody wants written."""

    onto: str
    """The version that they saw."""
    before: str
    """What it said."""
    text: str
    confirmed: tuple[FieldConflict, ...] = ()
    """Others' fields that they want taken over."""


class MovedError(ClusterError):
    """It is no longer what was seen, or gone."""

    def __init__(self) -> None:
        super().__init__(gettext_noop("Somebody else changed the cluster’s copy meanwhile: nothing was written."))


class FieldConflictError(ClusterError):
    """Others answer for fields that it changes. Nothing was done."""

    def __init__(self, conflicts: tuple[FieldConflict, ...]) -> None:
        super().__init__(gettext_noop("Others answer for fields that this changes: confirm that they are taken over."))
        self.conflicts = conflicts
