"""Reads YuniKorn's ConfigMap, and writes it back only onto the version that was seen."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec
from kubernetes import client

from engine.cluster.acting.objects import CONFLICT, NOT_FOUND, Json, patch_object, read_object
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.identity import unreachable_error
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.inspection.refusals import no_answer_error, rejection_error
from engine.cluster.inspection.rights import APPLYING_YUNIKORN, CONFIG, Right
from engine.cluster.sync.copies import MANAGER, ClusterCopy, CopyChangedError, Rewrite
from engine.formats.kubernetes.managed_fields import last_writer
from engine.formats.kubernetes.wire import ConfigMapObject

KEY = "queues.yaml"


def read_config_map(connection: Connection, namespaces: Iterable[str]) -> ClusterCopy | None:
    """Return the copy in the first of these namespaces that has any; None where none has.

    Raises ApiRefusedError where it may not be read, else UnreachableError.
    """
    core = client.CoreV1Api(KubernetesClient(connection))
    for namespace in namespaces:
        try:
            found = read_object(core.read_namespaced_config_map, CONFIG, namespace)
        except ApiFailure as error:
            if error.code == NOT_FOUND:
                continue
            raise rejection_error(connection, error, _at(_READING, namespace)) from None
        except ConnectionFailure as error:
            raise unreachable_error(connection, error) from None
        copy = _decoded(connection, found)
        if copy is not None:
            return copy
    return None


def write_config_map(connection: Connection, current: ClusterCopy, rewrite: Rewrite) -> ClusterCopy:
    """Replace the queues.yaml if the copy is unchanged since it was seen, and return the new copy.

    Raises CopyChangedError, ApiRefusedError, UnknownError, and UnreachableError.
    """
    if current.version != rewrite.onto:
        raise CopyChangedError
    uid, _, version = current.version.partition("/")
    seen, changes = {"metadata": {"uid": uid, "resourceVersion": version}}, {"data": {KEY: rewrite.text}}
    patch = client.CoreV1Api(KubernetesClient(connection)).patch_namespaced_config_map
    try:
        written = patch_object(patch, CONFIG, current.namespace, current=seen, changes=changes, field_manager=MANAGER)
    except ConnectionFailure as error:
        raise no_answer_error(str(error)) from None
    except ApiFailure as error:
        if error.code in (CONFLICT, NOT_FOUND):
            raise CopyChangedError from None
        raise rejection_error(connection, error, _at(_WRITING, current.namespace)) from None
    return _decoded(connection, written) or replace(current, text=rewrite.text, version="")


_READING, _WRITING = APPLYING_YUNIKORN


def _at(right: Right, namespace: str) -> Right:
    return replace(right, namespace=namespace)


def _decoded(connection: Connection, found: Json) -> ClusterCopy | None:
    try:
        config_map = msgspec.convert(found, ConfigMapObject)
    except msgspec.ValidationError as error:
        raise unreachable_error(connection, ConnectionFailure("the ConfigMap can't be read")) from error
    meta, text = config_map.metadata, (config_map.data or {}).get(KEY)
    if text is None:
        return None
    writer = last_writer(meta.managed_fields or (), "data", KEY)
    return ClusterCopy(
        namespace=meta.namespace or "",
        text=text,
        version=f"{meta.uid}/{meta.resource_version}",
        writer=writer.name,
        written_at=writer.at,
    )
