"""Whether a cluster's kube-scheduler schedules PodGroups as a whole, from what is watched, asked and set."""

from engine.cluster.inspection.feature_gates import groups_served, scheduler_gate
from engine.model.objects import GroupScheduling, Pod
from engine.model.snapshot import ClusterState
from engine.observation.group_scheduling import conclude
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.watchers import Watch

_SET = {Cluster.GroupScheduling.ON.value: True, Cluster.GroupScheduling.OFF.value: False}


def group_scheduling_of(cluster: Cluster, watch: Watch, state: ClusterState) -> GroupScheduling:
    """Return whether PodGroups are scheduled as a whole there; ``state``: the cluster as the pass sees it."""
    gate, setting = watch.gate or GroupScheduling(), _SET.get(cluster.group_scheduling)
    return conclude(state, served=_is_served(watch), gate=gate, setting=setting)


def ask_scheduler(watch: Watch, pod: Pod | None, *, again: bool) -> None:
    """Ask the cluster how its scheduler schedules PodGroups, unless it serves none.

    ``pod``: the scheduler's own, None where it has none; ``again``: whether to ask also where that is known.
    """
    if watch.watcher.health().groups_served is None and (again or watch.groups_served is None):
        watch.groups_served = groups_served(watch.connection)
    if _is_served(watch) and (again or watch.gate is None):
        watch.gate = scheduler_gate(watch.connection, pod)


def _is_served(watch: Watch) -> bool | None:
    """Return whether PodGroups are served there; who may not read them learns it from what the API server offers."""
    watched = watch.watcher.health().groups_served
    return watch.groups_served if watched is None else watched
