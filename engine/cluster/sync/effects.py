"""Asks the schedulers that read trees themselves whether they use their copy, and what they object to.

Source: getClusterConfig and validateConf of yunikorn-core (pkg/webservice/handlers.go), SetChecksum of its
pkg/common/configs/config.go; the condition Active of Kueue's ClusterQueues (apis/kueue/v1beta2/clusterqueue_types.go).
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ApiFailure, ClusterError
from engine.cluster.sync.copies import CopyEffect, SchedulerAnswer
from engine.cluster.watching.yunikorn import LARGEST, failure_text, proxy_path
from engine.formats.kueue.object_kinds import KUEUE
from engine.formats.undecodable import UNDECODABLE
from engine.formats.untrusted_text import kept_text
from engine.formats.yunikorn.rest import ForeignAnswerError

_YAML = "application/yaml"
_CHECKSUM = "checksum: "
_NOT_FOUND = 404
LONGEST_WORDS = 2_000
"""How many characters of a scheduler's answer are kept: anybody may impersonate a scheduler."""
_WANTED = frozenset({"Ready", "Stopped", "Terminating"})
"""Reasons of the condition Active that result from a configured state, not from something that is missing."""


class _InForce(msgspec.Struct):
    checksum: str = msgspec.field(name="Checksum")


class _Verdict(msgspec.Struct):
    allowed: bool
    reason: str = ""


class _Meta(msgspec.Struct):
    name: str
    generation: int = 0


class _Condition(msgspec.Struct, rename="camel"):
    type: str
    status: str
    reason: str = ""
    message: str = ""
    observed_generation: int = 0


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _ClusterQueue(msgspec.Struct):
    metadata: _Meta
    status: _Status = msgspec.field(default_factory=_Status)


class _List(msgspec.Struct):
    items: list[_ClusterQueue] = []


def yunikorn_refusal(connection: Connection, service: str, text: str) -> str:
    """Return why YuniKorn would reject a queues.yaml; empty where it would accept it.

    Raises ClusterError, a sentence, where it can't be asked.
    """
    verdict = _request(connection, service, "POST", "/ws/v1/validate-conf", _Verdict, body=text.encode())
    return "" if verdict.allowed else kept_text(verdict.reason, LONGEST_WORDS) or "not allowed"


def yunikorn_effect(connection: Connection, service: str, text: str) -> SchedulerAnswer:
    """Return whether YuniKorn uses a queues.yaml, by the checksum of the one that it has in force."""
    try:
        config = _request(connection, service, "GET", "/ws/v1/config", _InForce)
        if config.checksum == _checksum(text):
            return SchedulerAnswer(effect=CopyEffect.APPLIED)
        return SchedulerAnswer(effect=CopyEffect.REJECTED, why=yunikorn_refusal(connection, service, text))
    except ClusterError as error:
        return SchedulerAnswer(effect=CopyEffect.UNKNOWN, why=str(error))


def _checksum(text: str) -> str:
    """Return YuniKorn's checksum of a text: without the text's own checksum line, if it has one."""
    _before, separator, after = text.partition(_CHECKSUM)
    line = f"{_CHECKSUM}{after.partition(_CHECKSUM)[0]}".rstrip("\n")[: len(_CHECKSUM) + 64]
    return sha256((text.replace(line, "") if separator else text).encode()).hexdigest().upper()


def _request(connection: Connection, service: str, method: str, path: str, answer: type[Any], **sent: Any) -> Any:
    try:
        response = connection.request(
            method, f"{proxy_path(service)}{path}", content_type=_YAML, largest=LARGEST, **sent
        )
        return msgspec.json.decode(response.body, type=answer)
    except ApiFailure as error:
        raise ClusterError(failure_text(error)) from None
    except UNDECODABLE:
        raise ClusterError(str(ForeignAnswerError())) from None


def kueue_effect(connection: Connection) -> SchedulerAnswer:
    """Return whether Kueue has processed and uses every ClusterQueue; the first unused one gives the reason."""
    try:
        for cluster_queue in _cluster_queues(connection):
            active = next(
                (condition for condition in cluster_queue.status.conditions or () if condition.type == "Active"), None
            )
            if active is None or 0 < active.observed_generation < cluster_queue.metadata.generation:
                return SchedulerAnswer(
                    effect=CopyEffect.PENDING, why=f"ClusterQueue {cluster_queue.metadata.name} was not looked at yet"
                )
            if active.status != "True" and active.reason not in _WANTED:
                why = kept_text(
                    f"ClusterQueue {cluster_queue.metadata.name}: {active.message or active.reason}", LONGEST_WORDS
                )
                return SchedulerAnswer(effect=CopyEffect.REJECTED, why=why)
    except ClusterError as error:
        return SchedulerAnswer(effect=CopyEffect.UNKNOWN, why=str(error))
    return SchedulerAnswer(effect=CopyEffect.APPLIED)


def _cluster_queues(connection: Connection) -> Iterator[_ClusterQueue]:
    for version in KUEUE.versions:
        try:
            answer = connection.request("GET", f"/apis/{KUEUE.group}/{version}/clusterqueues")
            yield from msgspec.json.decode(answer.body, type=_List).items
        except ApiFailure as error:
            if error.code != _NOT_FOUND:
                raise
        except UNDECODABLE:
            raise ClusterError("the list of clusterqueues can't be read") from None
        else:
            return
