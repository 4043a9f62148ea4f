from django.apps import AppConfig

from scheduler_admin.queues.signals import consulting


class SyncConfig(AppConfig):
    name = "scheduler_admin.sync"
    label = "copies"  # the name that its tables have

    def ready(self) -> None:
        """Tell which clusters read trees themselves."""
        from scheduler_admin.sync import consumers  # noqa: PLC0415 - its models are loaded by now

        consulting.connect(consumers.documents, dispatch_uid="copies")
