"""What every worker needs to have imported: done once, in the process that all of them are forked from.

Left out is scheduler_admin.clusters.watching.watchers, which names the process that imports it.
"""

import os
import secrets
from importlib import import_module

import django

SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "scheduler_admin.settings",
    "SECRET_KEY": secrets.token_urlsafe(32),
    "INSECURE_HTTP": "1",
    "DATABASE_URL": "sqlite:///db.sqlite3",  # of the folder that a worker works in
    "LOG_LEVEL": "WARNING",
}
DEAR = (
    "django.urls",
    "engine.formats.arbitrator.allocations",
    "engine.cluster.acting.actuator",
    "engine.cluster.acting.allocations",
    "engine.cluster.watching.watcher",
    "engine.cluster.watching.yunikorn",
    "engine.policies",
    "scheduler_admin.worker.reclaim_notices",
    "scheduler_admin.queues.services.hierarchies",
)

os.environ |= SETTINGS
django.setup()
for name in DEAR:
    import_module(name)
