"""Creates, changes and deletes PriorityClasses, each only if it is unchanged since it was read."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kubernetes import client

from engine.cluster.acting.objects import (
    CONFLICT,
    NOT_FOUND,
    create_object,
    patch_object,
    read_object,
    unchanged,
)
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import (
    LIMIT_S,
    OTHER_CLUSTER,
    UnreachableError,
    api_error,
    cluster_uid,
    run_with_timeout,
    unreachable_error,
)
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure, SettingsError
from engine.cluster.inspection.refusals import UnknownError, no_answer_error, rejection_error
from engine.cluster.inspection.rights import WRITING_CLASSES
from engine.cluster.timing import Clock
from engine.formats.kubernetes.convert import NEVER
from engine.formats.kubernetes.decode import DecodeError, decode_priority_class
from engine.model.message import gettext_noop
from engine.model.objects import PriorityClass

Done = TypeVar("Done")


class ChangedError(ClusterError):
    """Raised when the class was changed or deleted by somebody else in the meantime. Nothing was done."""

    def __init__(self, now: PriorityClass | None) -> None:
        super().__init__(gettext_noop("Someone else changed this priority class in the meantime."))
        self.now = now
        """The class as it is now; None: it no longer exists."""


class PriorityClasses:
    """The PriorityClasses of one cluster. Every method raises the errors of this module, and UnreachableError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._api = client.SchedulingV1Api(KubernetesClient(connection))

    def create(self, new_class: PriorityClass) -> PriorityClass:
        """Create a class and return it as the API server completed it."""
        create, typed = self._api.create_priority_class, _typed(new_class)
        return self._perform("create", lambda: decode_priority_class(create_object(create, typed)))

    def change(self, before: PriorityClass, after: PriorityClass) -> PriorityClass:
        """Write the difference between two versions of a class, if the class is still as it was before."""
        current = {"metadata": {"uid": before.uid, "resourceVersion": before.version}}
        patch, changes = self._api.patch_priority_class, _changes(before, after)
        return self._perform(
            "patch",
            lambda: decode_priority_class(patch_object(patch, before.name, current=current, changes=changes)),
            before.name,
        )

    def delete(self, before: PriorityClass) -> None:
        """Delete a class, if it is still as it was before. Pods that use it are unchanged."""
        delete, options = self._api.delete_priority_class, unchanged(before.uid, before.version)
        self._perform("delete", lambda: delete(before.name, body=options, _preload_content=False), before.name)

    def _perform(self, verb: str, step: Callable[[], Done], name: str = "") -> Done:
        try:
            return step()
        except ConnectionFailure as error:
            raise no_answer_error(str(error)) from None
        except DecodeError as error:
            message = gettext_noop(
                "The API server’s response cannot be read (%(why)s). It is unknown whether the change was made."
            )
            raise UnknownError(message, why=error.sentence) from None
        except ApiFailure as error:
            if name and error.code in (CONFLICT, NOT_FOUND):
                raise ChangedError(self._now(name)) from None
            right = next(candidate for candidate in WRITING_CLASSES if candidate.verb == verb)
            raise rejection_error(self._connection, error, right) from None

    def _now(self, name: str) -> PriorityClass | None:
        try:
            return decode_priority_class(read_object(self._api.read_priority_class, name))
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                return None
            raise api_error(self._connection, error, "get priorityclasses") from None
        except ConnectionFailure as error:
            raise unreachable_error(self._connection, error) from None


def write(
    settings: ConnectionSettings,
    uid: str,
    act: Callable[[PriorityClasses], Done],
    *,
    limit_s: float = LIMIT_S,
    clock: Clock | None = None,
) -> Done:
    """Sign in, verify that the cluster has this UID (empty: any), and perform an action.

    Raises ClusterError, never later than after ``limit_s`` seconds. No action begins that might end after that.
    """
    clock = clock or Clock()
    last_s = clock.steady_s() + limit_s - settings.timeout_s

    def work() -> Done:
        connection = Connection(settings)
        current_uid = cluster_uid(connection)
        if uid and current_uid and current_uid != uid:
            raise SettingsError(OTHER_CLUSTER)
        if clock.steady_s() > last_s:
            raise UnreachableError(gettext_noop("Signing in took too long. Nothing was changed."))
        return act(PriorityClasses(connection))

    return run_with_timeout(work, limit_s)


def _typed(new_class: PriorityClass) -> "client.V1PriorityClass":
    return client.V1PriorityClass(
        api_version="scheduling.k8s.io/v1",
        kind="PriorityClass",
        metadata=client.V1ObjectMeta(
            name=new_class.name, labels=dict(new_class.labels), annotations=dict(new_class.annotations)
        ),
        value=new_class.value,
        global_default=new_class.global_default,
        description=new_class.description,
        preemption_policy=NEVER if new_class.never_preempts else None,
    )


def _changes(before: PriorityClass, after: PriorityClass) -> dict[str, Any]:
    """Return a merge patch, in which None deletes a key."""
    patch: dict[str, Any] = {}
    if before.description != after.description:
        patch["description"] = after.description
    if before.global_default != after.global_default:
        patch["globalDefault"] = after.global_default
    meta = {
        field: changed
        for field in ("labels", "annotations")
        if (changed := _differing(getattr(before, field), getattr(after, field)))
    }
    return {**patch, "metadata": meta} if meta else patch


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    return {key: after.get(key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)}
