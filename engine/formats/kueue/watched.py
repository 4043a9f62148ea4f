"""Kueue's objects as a watch brings them, JSON; whatever is wrong with one, the only error is DecodeError."""

import msgspec

from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ConfigMapObject
from engine.formats.kueue import wire
from engine.formats.kueue.cluster import FLAVOR, WORKLOAD, to_cohort, to_flavor, to_local_queue, to_queue
from engine.formats.kueue.fair_sharing_config import to_sharing
from engine.formats.kueue.queue_names import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE
from engine.formats.kueue.workloads import to_workload
from engine.model.objects import ClusterQueue, Cohort, Flavor, KueueSettings, LocalQueue, Workload

_flavors = Reader(FLAVOR, wire.FlavorObject, to_flavor)
_queues = Reader(CLUSTER_QUEUE, wire.QuotaOwner, to_queue)
_cohorts = Reader(COHORT, wire.QuotaOwner, to_cohort)
_local_queues = Reader(LOCAL_QUEUE, wire.LocalQueueObject, to_local_queue)
_workloads = Reader(WORKLOAD, wire.WorkloadObject, to_workload)
_sharings = Reader("ConfigMap", ConfigMapObject, to_sharing)


def flavor_from_bytes(data: bytes | msgspec.Raw) -> Flavor:
    """One ResourceFlavor. Raises DecodeError."""
    return _flavors.from_bytes(data)


def cluster_queue_from_bytes(data: bytes | msgspec.Raw) -> ClusterQueue:
    """One ClusterQueue. Raises DecodeError."""
    return _queues.from_bytes(data)


def cohort_from_bytes(data: bytes | msgspec.Raw) -> Cohort:
    """One Cohort. Raises DecodeError."""
    return _cohorts.from_bytes(data)


def local_queue_from_bytes(data: bytes | msgspec.Raw) -> LocalQueue:
    """One LocalQueue. Raises DecodeError."""
    return _local_queues.from_bytes(data)


def workload_from_bytes(data: bytes | msgspec.Raw) -> Workload:
    """One Workload. Raises DecodeError."""
    return _workloads.from_bytes(data)


def sharing_from_bytes(data: bytes | msgspec.Raw) -> KueueSettings | None:
    """The ConfigMap with Kueue's settings, None where it is another. Raises DecodeError."""
    return _sharings.from_bytes(data)
