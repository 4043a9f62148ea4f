"""Creates missing Consumers and updates outdated Allocations, a limited number in every pass."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from kubernetes import client

from engine.cluster.acting.objects import CONFLICT, NOT_FOUND, Method
from engine.cluster.connecting.connection import APPLY_PATCH, Connection
from engine.cluster.connecting.identity import unreachable_error
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure
from engine.cluster.inspection.refusals import rejection_error
from engine.cluster.inspection.rights import ARBITRATING, Right
from engine.cluster.sync.copies import MANAGER
from engine.cluster.timing import Clock
from engine.formats.arbitrator.allocations import NAME
from engine.formats.arbitrator.consumers import CONSUMER, VERSION
from engine.model.objects import Allocation

KIND = "Allocations (written)"
"""The name under which a write failure is listed, among the kinds that can't be read."""
LONGEST_S = 0.25
"""The time budget for all writes of one pass, in seconds; the next passes write the rest."""
AGAIN_S = 30.0
"""How long a namespace is skipped after a failed write, in seconds."""

_GROUP = tuple(VERSION.split("/"))
_FORCED: Mapping[str, Any] = {"force": True, "_content_type": APPLY_PATCH}
"""Server-side apply with force: no other field manager is responsible for what a namespace deserves."""
_TERMINATING = "NamespaceTerminating"
"""The cause that the API server gives when nothing new can be created in a namespace that is being deleted."""

Write = Callable[[], None]


class _NamespaceTerminatingError(Exception):
    """Raised when the namespace is being deleted: that may take days, and is not reported."""


class AllocationWriter:
    """The writer of one cluster's Allocations; not safe to share between threads."""

    def __init__(self, connection: Connection, clock: Clock | None = None) -> None:
        self._connection = connection
        self._api = client.CustomObjectsApi(KubernetesClient(connection))
        self._clock = clock or Clock()
        self._last = ""
        """The namespace that was written last: the next run begins after it, so that every namespace is reached."""
        self._held: dict[str, float] = {}
        """Namespaces where a write failed -> until when (steady clock) they are skipped."""
        self._ending: dict[str, float] = {}
        """Namespaces that are being deleted -> until when (steady clock) they are skipped."""
        self.trouble = ""
        """Why the last run could not write everything, as a sentence; empty where nothing failed."""

    def write(
        self,
        consumers: Mapping[str, Mapping[str, Any]],
        desired: Mapping[str, Allocation],
        existing: Iterable[Allocation],
        may_act: Callable[[], bool],
    ) -> int:
        """Write what differs in the cluster, within the time budget, and return how many namespaces were written.

        ``consumers``: the Consumers to create, by namespace; ``may_act`` is called before each namespace.
        """
        until_s, done = self._clock.steady_s() + LONGEST_S, 0
        todo = dict(
            self._todo(
                consumers,
                desired,
                {allocation.namespace: allocation for allocation in existing if allocation.name == NAME},
            )
        )
        turns = self._turns(todo.keys(), until_s)
        for namespace in turns:
            if self._clock.steady_s() > until_s or not may_act():
                return done
            self._last = namespace
            try:
                for step in todo[namespace]:
                    step()
            except _NamespaceTerminatingError:
                self._ending[namespace] = self._clock.steady_s() + AGAIN_S
                continue
            except ClusterError as error:
                self.trouble = str(error)
                self._held[namespace] = self._clock.steady_s() + AGAIN_S
                return done
            done += 1
        if not self._held:
            self.trouble = ""
        return done

    def _turns(self, names: AbstractSet[str], until_s: float) -> list[str]:
        """Return the namespaces that are not skipped, in the order in which they are written."""
        self._held, self._ending = (
            {name: at_s for name, at_s in known.items() if name in names and at_s > until_s}
            for known in (self._held, self._ending)
        )
        return sorted(names - self._held.keys() - self._ending.keys(), key=lambda name: (name <= self._last, name))

    def _todo(
        self,
        consumers: Mapping[str, Mapping[str, Any]],
        desired: Mapping[str, Allocation],
        existing: Mapping[str, Allocation],
    ) -> Iterator[tuple[str, list[Write]]]:
        for namespace in consumers.keys() | desired.keys():
            steps: list[Write] = []
            if namespace in consumers:
                steps.append(partial(self._create, namespace, consumers[namespace]))
            if namespace in desired:
                steps += self._steps(desired[namespace], existing.get(namespace))
            if steps:
                yield namespace, steps

    def _steps(self, allocation: Allocation, before: Allocation | None) -> Iterator[Write]:
        if before is None or _spec(before) != _spec(allocation):
            yield partial(self._apply, allocation, {"spec": spec} if (spec := _spec(allocation)) else {})
        if before is None or before.conditions != allocation.conditions:
            yield partial(self._apply_status, allocation, {"status": {"conditions": _conditions(allocation)}})

    def _create(self, namespace: str, spec: Mapping[str, Any]) -> None:
        body = {"apiVersion": VERSION, "kind": CONSUMER, "metadata": {"name": NAME}, "spec": spec}
        create = self._api.create_namespaced_custom_object
        self._send(_right("create", "consumers"), create, *_GROUP, namespace, "consumers", body)

    def _apply(self, allocation: Allocation, fields: Mapping[str, Any]) -> None:
        patch = self._api.patch_namespaced_custom_object
        self._send(_right("patch", "allocations"), patch, *_at(allocation), _applied(allocation, fields), **_FORCED)

    def _apply_status(self, allocation: Allocation, fields: Mapping[str, Any]) -> None:
        patch, right = self._api.patch_namespaced_custom_object_status, _right("patch", "allocations/status")
        self._send(right, patch, *_at(allocation), _applied(allocation, fields), **_FORCED)

    def _send(self, right: Right, send: Method, *arguments: Any, **options: Any) -> None:
        """Send a write by a method of the official client.

        Ignores a namespace that no longer exists and a Consumer that exists already.

        Raises _NamespaceTerminatingError for a namespace that is being deleted.
        """
        try:
            send(*arguments, field_manager=MANAGER, _preload_content=False, **options)
        except ApiFailure as error:
            if _TERMINATING in error.causes:
                raise _NamespaceTerminatingError from None
            if error.code not in (NOT_FOUND, CONFLICT):
                raise rejection_error(self._connection, error, right) from None
        except ConnectionFailure as error:
            raise unreachable_error(self._connection, error) from None


def _right(verb: str, resource: str) -> Right:
    return next(right for right in ARBITRATING if (right.verb, right.resource) == (verb, resource))


def _at(allocation: Allocation) -> tuple[str, str, str, str, str]:
    group, version = _GROUP
    return group, version, allocation.namespace, "allocations", allocation.name


def _applied(allocation: Allocation, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": VERSION, "kind": "Allocation", "metadata": {"name": allocation.name}, **fields}


def _spec(allocation: Allocation) -> dict[str, dict[str, str]]:
    """Return the spec without empty fields: the API server turns an empty mapping that is applied into null."""
    fields = {"deserved": allocation.deserved, "hard": allocation.hard, "reserved": allocation.reserved}
    return {field: amounts for field, amounts in fields.items() if amounts}


def _conditions(allocation: Allocation) -> list[dict[str, str]]:
    return [
        {
            "type": condition.type,
            "status": condition.status,
            "reason": condition.reason,
            "message": condition.message,
            "lastTransitionTime": condition.since,
        }
        for condition in allocation.conditions
    ]
