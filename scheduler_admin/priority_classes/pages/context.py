"""What the pages of priority classes show, put together from what is stored."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _

from engine.formats.kubernetes.priority_classes import is_system
from engine.model.objects import SYSTEM_PRIORITY, ClassQuota, ClassRule
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import freshness, status_of
from scheduler_admin.core.words import listed, semicolon
from scheduler_admin.priority_classes.forms import APPLIED
from scheduler_admin.priority_classes.selectors import Picture, Row, picture


@dataclass(frozen=True)
class QuotaLine:
    """A quota by priority class."""

    quota: ClassQuota
    whom: str
    """Which pods it is for, in words."""
    amounts: list[tuple[str, str, str]]
    """Resource, used, hard; used is empty until it was counted."""


def classes_page(user: Who, cluster: Cluster, now: datetime) -> dict[str, Any]:
    """The context of the page of all classes."""
    found = picture(cluster)
    return {
        "picture": found,
        "quotas": quota_lines(found.quotas) if found else [],
        "system_priority": SYSTEM_PRIORITY,
        "fresh": freshness(status_of(cluster), now),
        "may_classify": scope_of(user, "classify").everything,
    }


def class_page(user: Who, cluster: Cluster, name: str, now: datetime) -> dict[str, Any]:
    """The context of the page of one class. Raises Http404."""
    found, row = known(cluster, name)
    return {
        "picture": found,
        "row": row,
        "quotas": quota_lines(row.quotas),
        "system_priority": SYSTEM_PRIORITY,
        "fresh": freshness(status_of(cluster), now),
        "system": is_system(name),
        "applied": APPLIED in row.one.annotations,
        "may_classify": scope_of(user, "classify").everything,
    }


def known(cluster: Cluster, name: str) -> tuple[Picture, Row]:
    """All classes and the one of that name. Raises Http404."""
    found = picture(cluster)
    row = found.find(name) if found else None
    if found is None or row is None:
        raise Http404
    return found, row


def quota_lines(quotas: Iterable[ClassQuota]) -> list[QuotaLine]:
    """Quotas in words."""
    return [
        QuotaLine(
            quota,
            semicolon().join([*(_rule(rule) for rule in quota.rules), *quota.scopes]),
            [(name, quota.used.get(name, ""), amount) for name, amount in sorted(quota.hard.items())],
        )
        for quota in quotas
    ]


def _rule(rule: ClassRule) -> str:
    names = {"names": listed(rule.classes)}
    match rule.operator:
        case "In":
            return _("class %(names)s") % names
        case "NotIn":
            return _("class not %(names)s") % names
        case "Exists":
            return _("any class")
        case "DoesNotExist":
            return _("no class")
    return rule.operator
