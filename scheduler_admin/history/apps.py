from django.apps import AppConfig

from scheduler_admin.queues.signals import published, publishing


class HistoryConfig(AppConfig):
    name = "scheduler_admin.history"
    label = "history"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Hear of trees that are published."""
        from scheduler_admin.history import orphans, renaming  # noqa: PLC0415 - their models are there by now

        publishing.connect(orphans.refuse, dispatch_uid="orphans")
        published.connect(renaming.follow, dispatch_uid="renaming")
