"""Decoders of Kueue's objects in JSON, as a watch delivers them; the only error they raise is DecodeError."""

from engine.formats.kubernetes.reader import Reader
from engine.formats.kubernetes.wire import ConfigMapObject
from engine.formats.kueue import wire
from engine.formats.kueue.cluster import FLAVOR, WORKLOAD, to_cohort, to_flavor, to_local_queue, to_queue
from engine.formats.kueue.fair_sharing_config import to_sharing
from engine.formats.kueue.queue_names import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE
from engine.formats.kueue.workloads import to_workload

FLAVOR_READER = Reader(FLAVOR, wire.FlavorObject, to_flavor)
CLUSTER_QUEUE_READER = Reader(CLUSTER_QUEUE, wire.QuotaOwner, to_queue)
COHORT_READER = Reader(COHORT, wire.QuotaOwner, to_cohort)
LOCAL_QUEUE_READER = Reader(LOCAL_QUEUE, wire.LocalQueueObject, to_local_queue)
WORKLOAD_READER = Reader(WORKLOAD, wire.WorkloadObject, to_workload)
SHARING_READER = Reader("ConfigMap", ConfigMapObject, to_sharing)
