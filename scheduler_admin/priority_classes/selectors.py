"""Reads of priority classes, as the last pass read them or somebody wrote them from here since."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from engine.model.objects import ClassQuota, ClassRule, PriorityClass
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.clusters.status.priority_classes import unlisted


@dataclass(frozen=True)
class Use:
    """How many pods have a class, and where."""

    running: int = 0
    waiting: int = 0
    places: tuple[Mapping[str, Any], ...] = ()
    """{"namespace", "queue", "running", "waiting"}, the largest first; the queue is None for pods of none."""
    more: int = 0
    """Places that are not listed."""

    @property
    def pods(self) -> int:
        """All of them."""
        return self.running + self.waiting

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Self:
        """As a status has it; None: nobody."""
        return cls(**{**stored, "places": tuple(stored["places"])}) if stored else cls()


@dataclass(frozen=True)
class Row:
    """A class with what hangs on it."""

    one: PriorityClass
    use: Use
    rival: bool
    """Whether the cluster's own scheduler preempts for its pods, beside the engine."""
    quotas: tuple[ClassQuota, ...]
    """Those that its pods fall under, where their namespaces have any."""


@dataclass(frozen=True)
class Picture:
    """All classes of a cluster."""

    rows: list[Row]
    """The highest first."""
    unnamed: Use
    """Of pods without a class."""
    unnamed_rival: bool
    gone: dict[str, Use]
    """Names that pods still have, and no class any more."""
    quotas: list[ClassQuota]
    quotas_error: str

    @property
    def default(self) -> PriorityClass | None:
        """What pods get that name no class."""
        return next((row.one for row in self.rows if row.one.global_default), None)

    @property
    def rivals(self) -> list[str]:
        """The classes by which the cluster's own scheduler preempts too."""
        return [row.one.name for row in self.rows if row.rival]

    @property
    def unlimited(self) -> str:
        """The highest class that people made, where no quota says who may have how much of it; empty: else."""
        made = (row for row in self.rows if not row.one.name.startswith("system-"))
        highest = next(made, None)
        return highest.one.name if highest and not highest.quotas and not self.quotas_error else ""

    def find(self, name: str) -> Row | None:
        """The class of that name."""
        return next((row for row in self.rows if row.one.name == name), None)


def picture(cluster: Cluster) -> Picture | None:
    """What is known of a cluster's classes; None where no pass has read them yet."""
    status = status_of(cluster)
    if status is None or status.classes is None:
        return None
    found, use, rivals = unlisted(status.classes), status.class_use, set(status.rivals)
    quotas = msgspec.convert(status.class_quotas, list[ClassQuota])
    names = {one.name for one in found}
    return Picture(
        rows=[
            Row(one, Use.of(use.get(one.name)), one.name in rivals, tuple(q for q in quotas if covers(q, one.name)))
            for one in found
        ],
        unnamed=Use.of(use.get("")),
        unnamed_rival="" in rivals,
        gone={name: Use.of(each) for name, each in use.items() if name and name not in names},
        quotas=quotas,
        quotas_error=status.missing.get("ResourceQuota", ""),
    )


def covers(quota: ClassQuota, name: str) -> bool:
    """Whether pods of a class fall under a quota; a pod without one, "", is in none. Further scopes are left aside."""
    return all(_covers(rule, name) for rule in quota.rules)


def _covers(rule: ClassRule, name: str) -> bool:
    match rule.operator:
        case "In":
            return name in rule.classes
        case "NotIn":
            return name not in rule.classes
        case "Exists":
            return name != ""
        case "DoesNotExist":
            return name == ""
    return False
