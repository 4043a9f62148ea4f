"""Whether a cluster's kube-scheduler schedules PodGroups as a whole, from what is watched, asked and set."""

from engine.model.objects import GroupScheduling
from engine.model.snapshot import ClusterState
from engine.observation.group_scheduling import conclude
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.watchers import Watch

_SET = {Cluster.GroupScheduling.ON.value: True, Cluster.GroupScheduling.OFF.value: False}


def group_scheduling_of(cluster: Cluster, watch: Watch, state: ClusterState) -> GroupScheduling:
    """Return whether PodGroups are scheduled as a whole there; ``state``: the cluster as the pass sees it."""
    served, setting = watch.watcher.health().groups_served, _SET.get(cluster.group_scheduling)
    return conclude(state, served=served, gate=watch.gate or GroupScheduling(), setting=setting)
