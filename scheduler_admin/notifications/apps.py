from django.apps import AppConfig
from django.db.models.signals import post_save


class NotificationsConfig(AppConfig):
    name = "scheduler_admin.notifications"

    def ready(self) -> None:
        """Follow the audit log, which has what happens to the site."""
        from scheduler_admin.accounts.models import AuditEvent  # noqa: PLC0415 - models are loaded by now
        from scheduler_admin.notifications.events import site  # noqa: PLC0415 - models are loaded by now

        post_save.connect(site.report, sender=AuditEvent, dispatch_uid="site-events")
