"""What Celery runs: housekeeping asks which comparisons wait, a worker of their own runs one at a time."""

from celery import shared_task
from django.utils import timezone

from scheduler_admin.comparisons import runs, services
from scheduler_admin.comparisons.models import Comparison

LIMIT_S = 900


@shared_task(name="scheduler_admin.comparisons.tasks.send_comparisons")
def send_comparisons() -> None:
    """Send the one that has waited longest; what is not taken up soon is sent again."""
    services.tidy(now=timezone.now())
    pk = Comparison.objects.filter(state=Comparison.State.WAITING).order_by("pk").values_list("pk", flat=True).first()
    if pk is not None:
        run_comparison.apply_async((pk,), expires=5.0)


@shared_task(name="scheduler_admin.comparisons.tasks.run_comparison", soft_time_limit=LIMIT_S, time_limit=LIMIT_S + 30)
def run_comparison(pk: int) -> None:
    """Run one."""
    runs.run(pk=pk)
