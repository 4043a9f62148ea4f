from django.apps import AppConfig

from scheduler_admin.queues.signals import consulting


class CopiesConfig(AppConfig):
    name = "scheduler_admin.copies"
    label = "copies"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Say which clusters read trees themselves."""
        from scheduler_admin.copies import reading  # noqa: PLC0415 - its models are there by now

        consulting.connect(reading.documents, dispatch_uid="copies")
