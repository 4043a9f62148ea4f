"""What Events hold of a decision, as long as they may be."""

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.worker.acting.pod_messages import told_victim
from tests.builders import ask
from tests.worker.execution_scenes import first
from tests.worker.watch import Watch


def test_however_long_the_link_is_it_stays_whole(cluster: Cluster, watch: Watch) -> None:
    """What an Event can't hold is left out of the sentence."""
    watch.put(ask("prod-0", queue="prod", cpu=2))
    row, link = first(watch), f"https://site/{'x' * 940}/"
    told = told_victim(row, row.victims.all()[0], link)
    assert len(told.encode()) <= 1024
    assert told.endswith(f"… Details: {link}")
