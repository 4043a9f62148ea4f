"""Quotas by priority class in words."""

from django.utils.translation import gettext as _

from engine.model.objects import ClassQuota
from scheduler_admin.core.words import list_comma


def quota_text(quota: ClassQuota) -> str:
    """Return what is used and allowed of each resource in one line, such as ``pods 3 of 10``."""
    used = _("%(resource)s %(used)s of %(hard)s")
    return list_comma().join(
        used % {"resource": name, "used": quota.used.get(name, "?"), "hard": hard}
        for name, hard in sorted(quota.hard.items())
    )
