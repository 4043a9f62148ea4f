"""Evicts pods through the Eviction API and interprets each answer. Nothing here ever deletes."""

from engine.cluster.acting.objects import CONFLICT, NOT_FOUND, Json, Objects, pod_path
from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult, PodRef
from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ApiFailure, ConnectionFailure

_BUDGET_CAUSE = "DisruptionBudget"
_TWO_BUDGETS = "more than one PodDisruptionBudget"


class PodEvictions:
    """The evictions of one cluster; safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._objects = Objects(connection)

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        """Evict a pod; see Executor.evict. No grace period is sent: the pod's own applies."""
        # Both requests together must not take longer than one request may: the lease does not outlast more.
        timeout_s = self._connection.timeout_s / (2 if again else 1)
        if again and (known := self._earlier_outcome(victim, timeout_s)):
            return known
        options: Json = {"preconditions": {"uid": victim.uid}}
        if dry_run:
            options["dryRun"] = ["All"]
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": victim.name, "namespace": victim.namespace},
            "deleteOptions": options,
        }
        query = {"dryRun": "All"} if dry_run else None
        try:
            path = f"{pod_path(victim)}/eviction"
            self._connection.request("POST", path, query=query, body=body, timeout_s=timeout_s)
        except ApiFailure as error:
            return self._failure_result(victim, error)
        except ConnectionFailure as error:
            return EvictionResult(outcome=EvictionOutcome.RETRY, sentence=str(error))
        return EvictionResult(outcome=EvictionOutcome.ACCEPTED)

    def _earlier_outcome(self, victim: PodRef, timeout_s: float) -> EvictionResult | None:
        """Return the outcome of an earlier request whose answer was lost; None when the pod still runs."""
        try:
            meta = self._objects.get(pod_path(victim), timeout_s)["metadata"]
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
            return bool(self._objects.get(pod_path(victim))["metadata"].get("uid") != victim.uid)
        except ApiFailure as error:
            return error.code == NOT_FOUND
        except ConnectionFailure:
            return False


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
