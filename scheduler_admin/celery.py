"""The Celery app: `celery -A scheduler_admin.celery worker -Q engine -P threads`, and beat."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")
app = Celery("scheduler_admin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["scheduler_admin.history"])
