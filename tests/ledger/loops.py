"""Applications that take from each other in turn, as rows."""

from datetime import timedelta

from django.utils import timezone

from engine.model.decision import PodFacts
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Victim
from scheduler_admin.ledger.repeat_victims import count_repeats
from tests.api.builders import decision


def member(name: str, application: str = "app") -> PodFacts:
    """A pod of an application with a namespace and a queue of its own."""
    return PodFacts(
        uid=f"uid-{name}",
        name=name,
        namespace=f"{name}-ns",
        queue=f"root.{name}",
        application=application,
        priority=0,
        requests={},
    )


def took(
    cluster: Cluster, *pairs: tuple[PodFacts, PodFacts], times: int = 2, hours_ago: float = 1, **said: str
) -> None:
    """A pod of each first went for an ask of each second, so often; a pass comes by after each."""
    for _time in range(times):
        for loser, taker in pairs:
            row = decision(cluster, ask=taker, victims=(loser,), **said)
            row.victims.update(evicted_at=timezone.now() - timedelta(hours=hours_ago), state=Victim.State.EXITED)
            count_repeats(cluster=cluster)


def turning(cluster: Cluster, *members: PodFacts, times: int = 2, hours_ago: float = 1) -> None:
    """Each gives way to the next, the last to the first, again and again."""
    took(cluster, *zip(members, (*members[1:], members[0]), strict=True), times=times, hours_ago=hours_ago)
