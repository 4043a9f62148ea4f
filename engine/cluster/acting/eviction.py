"""Evicts pods through the Eviction API and interprets each answer. Nothing here ever deletes."""

from kubernetes import client

from engine.cluster.acting.objects import CONFLICT, NOT_FOUND, Json, read_object
from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult, PodRef
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ConnectionFailure

_BUDGET_CAUSE = "DisruptionBudget"
_TWO_BUDGETS = "more than one PodDisruptionBudget"


class PodEvictions:
    """The evictions of one cluster; safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._core = client.CoreV1Api(KubernetesClient(connection))

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        """Evict a pod; see Executor.evict. No grace period is sent: the pod's own applies."""
        # Both requests together must not take longer than one request may: the lease does not outlast more.
        timeout_s = self._connection.timeout_s / (2 if again else 1)
        if again and (known := self._earlier_outcome(victim, timeout_s)):
            return known
        try:
            self._core.create_namespaced_pod_eviction(
                victim.name,
                victim.namespace,
                _eviction(victim, dry_run=dry_run),
                dry_run="All" if dry_run else None,
                _request_timeout=timeout_s,
                _preload_content=False,  # whether it was accepted is all that counts
            )
        except ApiFailure as error:
            return self._failure_result(victim, error)
        except ConnectionFailure as error:
            return EvictionResult(outcome=EvictionOutcome.RETRY, sentence=str(error))
        return EvictionResult(outcome=EvictionOutcome.ACCEPTED)

    def _earlier_outcome(self, victim: PodRef, timeout_s: float) -> EvictionResult | None:
        """Return the outcome of an earlier request whose answer was lost; None when the pod still runs."""
        try:
            meta = self._read(victim, timeout_s)["metadata"]
        except ApiFailure as error:
            not_found = error.code == NOT_FOUND
            outcome = EvictionOutcome.GONE if not_found else EvictionOutcome.RETRY
            return EvictionResult(outcome=outcome, sentence=str(error), retry_after_s=error.retry_after_s)
        except ConnectionFailure as error:
            return EvictionResult(outcome=EvictionOutcome.RETRY, sentence=str(error))
        if meta.get("uid") != victim.uid:
            return EvictionResult(outcome=EvictionOutcome.GONE, sentence="another pod now has this name")
        return EvictionResult(outcome=EvictionOutcome.ACCEPTED) if meta.get("deletionTimestamp") else None

    def _failure_result(self, victim: PodRef, error: ApiFailure) -> EvictionResult:
        outcome = _outcome(error)
        if error.code == CONFLICT:  # the UID differs, or another client changed the pod at the same time
            outcome = EvictionOutcome.GONE if self._replaced(victim) else EvictionOutcome.RETRY
        return EvictionResult(
            outcome=outcome,
            sentence=str(error),
            budget=outcome is EvictionOutcome.HELD and _BUDGET_CAUSE in error.causes,
            retry_after_s=error.retry_after_s,
        )

    def _replaced(self, victim: PodRef) -> bool:
        try:
            return bool(self._read(victim)["metadata"].get("uid") != victim.uid)
        except ApiFailure as error:
            return error.code == NOT_FOUND
        except ConnectionFailure:
            return False

    def _read(self, pod: PodRef, timeout_s: float | None = None) -> Json:
        return read_object(self._core.read_namespaced_pod, pod.name, pod.namespace, timeout_s=timeout_s)


def _eviction(victim: PodRef, *, dry_run: bool) -> "client.V1Eviction":
    return client.V1Eviction(
        api_version="policy/v1",
        kind="Eviction",
        metadata=client.V1ObjectMeta(name=victim.name, namespace=victim.namespace),
        delete_options=client.V1DeleteOptions(
            preconditions=client.V1Preconditions(uid=victim.uid), dry_run=["All"] if dry_run else None
        ),
    )


def _outcome(error: ApiFailure) -> EvictionOutcome:
    match error.code:
        case 404 | 410:
            return EvictionOutcome.GONE
        case 429:
            return EvictionOutcome.HELD
        case 422:
            return EvictionOutcome.BLOCKED
        case 500 if _TWO_BUDGETS in error.message:
            return EvictionOutcome.BLOCKED
        case 408:
            return EvictionOutcome.RETRY
        case code:
            return EvictionOutcome.REFUSED if code < 500 else EvictionOutcome.RETRY  # noqa: PLR2004 - HTTP's
