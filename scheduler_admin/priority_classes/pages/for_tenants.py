"""What tenants see of priority classes: what each is for, and how much of it their namespaces can use."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from engine.model.objects import SYSTEM_PRIORITY, ClassQuota, PriorityClass
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.priority_classes.presenters import quota_text
from scheduler_admin.priority_classes.selectors import picture


@dataclass(frozen=True)
class OwnQuota:
    """A quota of a namespace of the reader's: what is used of each resource, and the limits, in one line."""

    namespace: str
    said: str


@dataclass(frozen=True)
class ClassLine:
    """A class in words."""

    one: PriorityClass
    preempts: str
    goes: str
    quotas: list[OwnQuota]


def tenants_page(user: Who, cluster: Cluster) -> dict[str, Any]:
    """Return the context of the page: of other tenants neither pods nor quotas."""
    found, scope = picture(cluster), scope_of(user, "view")

    def own(quota: ClassQuota) -> bool:
        return scope.namespaces is None or quota.namespace in scope.namespaces

    # Those of the system's own pods are above all others: no tenant uses them.
    rows = [row for row in found.rows if not row.one.unread and row.one.value < SYSTEM_PRIORITY] if found else []
    return {
        "known": found is not None,
        "default": found.default if found else None,
        "classes": [
            ClassLine(row.one, _preempts(row.one), _goes(row.one), [_quota(one) for one in row.quotas if own(one)])
            for row in rows
        ],
    }


def _quota(quota: ClassQuota) -> OwnQuota:
    return OwnQuota(quota.namespace, quota_text(quota))


def _preempts(one: PriorityClass) -> str:
    if one.never_preempts and not one.may_preempt:
        return _("no, its pods wait until there is room")
    return _("yes, pods with a lower priority")


def _goes(one: PriorityClass) -> str:
    if one.opted_out:
        return _("no, unless the policy ignores its opt-out")
    return _("yes")
