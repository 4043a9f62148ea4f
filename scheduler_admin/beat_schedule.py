"""What Celery beat sends, and how often, in seconds. A task that no worker takes in time is dropped, and sent again."""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # One entry for all clusters: the task reads their intervals from the database.
    "due-clusters": {
        "task": "scheduler_admin.history.tasks.send_due_passes",
        "schedule": 1.0,
        "options": {"expires": 1.0, "queue": "engine"},
    },
    # Checks each cluster's configuration once a minute, and carries out requests from users at once.
    "due-copies": {
        "task": "scheduler_admin.copies.tasks.send_due_visits",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "heartbeats": {
        "task": "scheduler_admin.history.tasks.check_heartbeats",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "work-out-changes": {
        "task": "scheduler_admin.history.tasks.work_out_changes",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    },
    "send-notifications": {
        "task": "scheduler_admin.notifications.tasks.send_notifications",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "send-comparisons": {
        "task": "scheduler_admin.comparisons.tasks.send_comparisons",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "write-digests": {
        "task": "scheduler_admin.history.tasks.write_due_digests",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    "check-credentials": {
        "task": "scheduler_admin.notifications.tasks.check_credentials",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    "roll-up-usage": {
        "task": "scheduler_admin.history.tasks.roll_up_usage",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "tally-hours": {
        "task": "scheduler_admin.history.tasks.tally_hours",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "make-partitions": {
        "task": "scheduler_admin.history.tasks.make_partitions",
        "schedule": 600.0,
        "options": {"expires": 600.0},
    },
    "prune": {"task": "scheduler_admin.history.tasks.prune", "schedule": 600.0, "options": {"expires": 600.0}},
}
