"""A stand-in for YuniKorn's REST interface behind the API server's proxy: its documents, word for word.

Source: getEvents and getPartitionQueues of yunikorn-core (pkg/webservice/handlers.go), the types that they encode
(pkg/webservice/dao: EventRecordDAO, PartitionQueueDAOInfo, YAPIError; EventRecord of yunikorn-scheduler-interface), the
ring buffer that they read from (pkg/events/event_ringbuffer.go), and the recorded examples of docs/api/scheduler.md of
yunikorn-site.
"""

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from tests.cluster.doubles import Answer, Asked

BASE = "/api/v1/namespaces/yunikorn/services/yunikorn-service:9080/proxy"
SERVICE = "yunikorn/yunikorn-service:9080"

NODE_ADDED: dict[str, Any] = {
    "type": 3,
    "objectID": "yk8s-worker",
    "message": "Node added to the scheduler",
    "timestampNano": 1701347180239650600,
    "eventChangeType": 2,
    "resource": {"resources": {"memory": {"value": 33424998400}, "hugepages-1Gi": {}, "vcore": {"value": 8000}}},
}
"""As it was recorded."""


CONFIG_IN_FORCE: dict[str, Any] = {
    "Partitions": [
        {
            "Name": "default",
            "Queues": [{"Name": "root", "Parent": True, "Resources": {}, "SubmitACL": "*"}],
            "Preemption": {"Enabled": True},
        }
    ],
    "Extra": {"log.level": "INFO"},
    "DeadlockDetectionEnabled": False,
    "DeadlockTimeoutSeconds": 60,
}
"""As a scheduler of July 2026 answered, shortened."""


def preempted(victim: str, message: str, *, application: str = "app-1", at_ms: int = 1_767_268_800_000) -> Any:
    """What SendPreemptedByScheduler and SendPreemptedByQuotaChange (ask_events.go) make of a victim."""
    return {
        "type": 1,
        "objectID": victim,
        "message": message,
        "timestampNano": at_ms * 1_000_000 + 999,
        "referenceID": application,
        "resource": {"resources": {"pods": {"value": 1}, "vcore": {"value": 1000}}},
    }


def queue(name: str, *children: Any, **said: Any) -> dict[str, Any]:
    """A queue as PartitionQueueDAOInfo has it: what is empty is left out, but for some."""
    plain = {
        "queuename": name,
        "status": "Active",
        "partition": "default",
        "isLeaf": not children,
        "isManaged": True,
        "parent": name.rpartition(".")[0],
        "currentPriority": 0,
        "prioritySorting": True,
        "preemptionEnabled": True,
        "isPreemptionFence": False,
        "preemptionDelay": "30s",
        "isPriorityFence": False,
        "sortingPolicy": "fifo",
    }
    return plain | ({"children": list(children)} if children else {}) | said


@dataclass
class StandIn:
    """One YuniKorn. ``ring`` is what its ring buffer holds; ids begin with ``lowest``."""

    ring: list[Any] = field(default_factory=list)
    lowest: int = 0
    instance: str = "400046c6-2180-41a2-9be1-1c251ab2c498"
    root: dict[str, Any] = field(default_factory=lambda: queue("root"))
    most: int = 10_000
    """MaxRESTResponseSize."""
    in_force: str = ""
    """The queues.yaml that it uses."""
    refusal: str = ""
    """What it has against any other."""

    def served_plain(self, asked: Asked, answer: Answer) -> None:
        """Answer one request that a proxy has passed on."""
        self.script(replace(asked, path=f"{BASE}{asked.path}"), answer)

    def script(self, asked: Asked, answer: Answer) -> None:
        """Answer one request as it is seen from before the proxy."""
        if asked.path == f"{BASE}/ws/v1/events/batch":
            start, count = int(asked.query.get("start", 0)), int(asked.query.get("count", self.most))
            if count == 0:
                return _error(answer, 400, '0 is not a valid value for "count"')
            return answer.json(200, self._batch(start, min(count, self.most)))
        if asked.path == f"{BASE}/ws/v1/partition/default/queues":
            return answer.json(200, self.root)
        if asked.path == f"{BASE}/ws/v1/config":
            return answer.json(200, {**CONFIG_IN_FORCE, "Checksum": sha256(self.in_force.encode()).hexdigest().upper()})
        if asked.path == f"{BASE}/ws/v1/validate-conf" and asked.method == "POST":
            verdict = {"allowed": False, "reason": self.refusal} if self.refusal else {"allowed": True}
            return answer.json(200, verdict)
        return answer.status(404, "NotFound", f'services "{asked.path}" not found')

    def _batch(self, start: int, count: int) -> Any:
        """As GetEventsFromID: nothing from outside of the buffer, whose bounds are told."""
        highest = self.lowest + len(self.ring) - 1
        found = self.ring[start - self.lowest :][:count] if self.lowest <= start <= highest else None
        return {
            "InstanceUUID": self.instance,
            "LowestID": self.lowest,
            "HighestID": highest % 2**64,
            "EventRecords": found,
        }


def disabled(_asked: Asked, answer: Answer) -> None:
    """``event.trackingEnabled: false``."""
    _error(answer, 500, "Event tracking is disabled")


def _error(answer: Answer, code: int, message: str) -> None:
    """As buildJSONErrorResponse."""
    answer.json(code, {"status_code": code, "message": message, "description": message})
