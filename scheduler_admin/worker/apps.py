from django.apps import AppConfig

from scheduler_admin.queues.signals import published, publishing


class WorkerConfig(AppConfig):
    name = "scheduler_admin.worker"

    def ready(self) -> None:
        """Follow the trees that are published."""
        from scheduler_admin.journal.selectors import orphans  # noqa: PLC0415 - models are loaded by now
        from scheduler_admin.worker import renames  # noqa: PLC0415 - models are loaded by now

        publishing.connect(orphans.refuse, dispatch_uid="orphans")
        published.connect(renames.follow, dispatch_uid="renaming")
