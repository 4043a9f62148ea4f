"""What is counted of a history, from all of its rows, one by one."""

from datetime import datetime

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.selectors.filtered import Counts
from scheduler_admin.decisions.selectors.history_filters import Filters


def plain_counts(user: User, cluster: Cluster, filters: Filters, pass_at: datetime) -> Counts:
    """The long way round."""
    counts = Counts()
    for row in filters.query.rows(user, cluster).prefetch_related("victims"):
        counts.decisions += 1
        counts.refused += row.ending == "rejected"
        stands = row.state in {"recorded", "planned", "evicting"} or (
            row.state == "on-hold" and row.last_seen >= pass_at
        )
        for victim in row.victims.all():
            if victim.state in {"evicted", "exited"}:
                name = {"queue": victim.queue, "reason": row.reason, "source": row.source}[filters.stack]
                counts.lost.add(row.first_seen, [name])
            elif stands and victim.state in {"chosen", "on-hold"}:
                counts.shown += 1
    return counts
