"""The plausible cluster divided by shares: tenant-2 and queue-b use more cpu than they deserve, the others less."""

from datetime import timedelta

import msgspec
from django.utils import timezone

from engine.model.quantities import parse_amounts
from scheduler_admin.clusters.models import Cluster, Notice
from scheduler_admin.queues.models import Revision
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import pack, unpack
from tests.builders import rewrite

QUEUE_B = "root.tenant-1.queue-b"
_HUNGRY = ("root.tenant-1.queue-b", "root.tenant-2")


def divided(cluster: Cluster) -> Cluster:
    """The same with what each queue asks and deserves, now and over time; queue-b is told to give back."""
    status = cluster.status
    for path, figures in status.queues.items():
        percent = 80 if path.startswith(_HUNGRY) else 120
        figures["requested"] = {name: 3 * amount // 2 for name, amount in figures["used"].items()}
        figures["deserved"] = {name: percent * amount // 100 for name, amount in figures["used"].items()}
    status.save()
    for row in Usage.objects.filter(cluster=cluster):
        run = unpack(row.document)
        shared = {
            name: msgspec.structs.replace(one, deserved=[200_000] * len(one.used)) for name, one in run.amounts.items()
        }
        row.document = pack(msgspec.structs.replace(run, amounts=shared))
        row.save()
    UsageSample.objects.filter(cluster=cluster).delete()
    rewrite(Revision.objects.filter(hierarchy=cluster.hierarchy), policy="deserved", dialect="arbitrator")
    now = timezone.now()
    Notice.objects.create(
        cluster=cluster,
        queue=QUEUE_B,
        mode=cluster.mode,
        over=parse_amounts({"cpu": "47"}),
        told_at=now - timedelta(seconds=10),
        due_at=now + timedelta(seconds=20),
    )
    return cluster
