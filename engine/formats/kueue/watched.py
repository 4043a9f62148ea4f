"""Decoders of Kueue's objects in JSON, as a watch delivers them; the only error they raise is DecodeError."""

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
    """Decode a ResourceFlavor from JSON. Raise DecodeError if it is invalid."""
    return _flavors.from_bytes(data)


def cluster_queue_from_bytes(data: bytes | msgspec.Raw) -> ClusterQueue:
    """Decode a ClusterQueue from JSON. Raise DecodeError if it is invalid."""
    return _queues.from_bytes(data)


def cohort_from_bytes(data: bytes | msgspec.Raw) -> Cohort:
    """Decode a Cohort from JSON. Raise DecodeError if it is invalid."""
    return _cohorts.from_bytes(data)


def local_queue_from_bytes(data: bytes | msgspec.Raw) -> LocalQueue:
    """Decode a LocalQueue from JSON. Raise DecodeError if it is invalid."""
    return _local_queues.from_bytes(data)


def workload_from_bytes(data: bytes | msgspec.Raw) -> Workload:
    """Decode a Workload from JSON. Raise DecodeError if it is invalid."""
    return _workloads.from_bytes(data)


def sharing_from_bytes(data: bytes | msgspec.Raw) -> KueueSettings | None:
    """Decode the ConfigMap with Kueue's settings; return None for another ConfigMap. Raise DecodeError."""
    return _sharings.from_bytes(data)
