"""What holds for the whole site."""

from typing import Any

from django.db import transaction

from scheduler_admin.accounts.models import Site, User
from scheduler_admin.accounts.services.audit import check_reason, record


@transaction.atomic
def change_site(*, actor: User | None = None, reason: str, **settings: Any) -> Site:
    """Set some of the site's ``settings``, by the names of its fields.

    Raises ValidationError by field, also without a reason.
    """
    check_reason(reason)
    found = Site.objects.select_for_update().first() or Site()
    before = {name: getattr(found, name) for name in settings}
    for name, value in settings.items():
        setattr(found, name, value)
    found.full_clean()
    if details := {name: [before[name], value] for name, value in settings.items() if value != before[name]}:
        found.save()
        record(actor=actor, verb="site.change", target="*", reason=reason.strip(), details=details)
    return found
