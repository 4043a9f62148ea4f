"""Kueue's word on a Workload that it preempted, as its versions have written it, and whatever else may stand there."""

from typing import Any

import msgspec
import pytest

from engine.formats.kubernetes.decode import DecodeError, decode_pod
from engine.formats.kueue.watched import WORKLOAD_READER
from engine.model.objects import PodSet, Preempted, Workload

UID, JOB = "5c023c28-8533-4927-b266-56bca5e310c1", "4548c8bd-c399-4027-bb02-6114f3a8cdeb"
AT, AT_MS = "2026-01-01T00:00:00Z", 1_767_225_600_000
CLASSIC = f"Preempted to accommodate a workload (UID: {UID}, JobUID: {JOB}) due to prioritization in the ClusterQueue"
UNKNOWN = (
    "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to UNKNOWN; preemptor path: UNKNOWN; "
    "preemptee path: UNKNOWN"
)
PATHS = "; preemptor path: /r/c/q; preemptee path: /r/q_borrowing"


def condition(type_: str, reason: str, message: str, status: str = "True", at: str | None = AT) -> dict[str, Any]:
    told = {"type": type_, "status": status, "reason": reason, "message": message}
    return told | ({"lastTransitionTime": at} if at else {})


def written(*conditions: dict[str, Any], admitted: str = "cq-a", **meta: Any) -> bytes:
    """A Workload as the API server serves it; v1beta1 and v1beta2 have all that is read in the same places."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": JOB, "controller": True}
    wire = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "job-train-1a2b3", "namespace": "ns", "uid": "uid-w", "ownerReferences": [owner]} | meta,
        "spec": {"queueName": "lq", "priority": 7, "podSets": [{"name": "main", "count": 3, "template": {"spec": {}}}]},
        "status": {"admission": {"clusterQueue": admitted}, "conditions": list(conditions)},
    }
    return msgspec.json.encode(wire)


def read(message: str, reason: str = "InCohortReclamation", **more: Any) -> Preempted:
    """What is read of both conditions."""
    both = condition("Evicted", "Preempted", message), condition("Preempted", reason, message)
    found = WORKLOAD_READER.from_bytes(written(*both, **more)).preempted
    assert found is not None
    return found


def test_a_workload_is_what_it_was_made_for_and_where_it_is_admitted() -> None:
    """With the LocalQueue that it names and how many pods it is of."""
    found = WORKLOAD_READER.from_bytes(written(condition("Admitted", "Admitted", "")))
    assert found == Workload(
        uid="uid-w",
        namespace="ns",
        name="job-train-1a2b3",
        owners=("Job/train",),
        priority=7,
        queue="cq-a",
        local_queue="lq",
        pod_sets=(PodSet(name="main", count=3, requests={}),),
    )
    assert found.owner == "Job/train"


@pytest.mark.parametrize(
    ("message", "asker", "ask_place", "place"),
    [
        ("Preempted to accommodate a higher priority Workload", "", "", "/cq-a"),
        (
            f"Preempted to accommodate a workload (UID: {UID}) due to prioritization in the ClusterQueue",
            UID,
            "",
            "/cq-a",
        ),
        (CLASSIC, UID, "", "/cq-a"),
        (CLASSIC + PATHS, UID, "/r/c/q", "/r/q_borrowing"),
        (
            f"Preempted to accommodate a workload (UID: {UID}, JobUID: UNKNOWN) due to Fair Sharing within the cohort"
            + PATHS,
            UID,
            "/r/c/q",
            "/r/q_borrowing",
        ),
        (
            UNKNOWN,
            "",
            "",
            "/cq-a",
        ),
    ],
)
def test_for_whom_and_from_where_is_read_of_every_form(message: str, asker: str, ask_place: str, place: str) -> None:
    """Without a path the ClusterQueue that admitted it is known all the same."""
    found = read(message)
    assert (found.uid, found.namespace, found.at_ms, found.why) == ("uid-w", "ns", AT_MS, "InCohortReclamation")
    assert (found.ask_uid, found.ask_kind) == (asker, "Workload")
    assert (found.ask_place, found.place) == (ask_place, place)


@pytest.mark.parametrize(
    "message",
    [
        f"{CLASSIC}; preemptor path: /r/c\0/q; preemptee path: /r/x",
        f"Preempted to accommodate a workload (UID: {'u' * 65}) due to prioritization in the ClusterQueue",
        "Preempted by somebody",
        "",
    ],
)
def test_a_message_that_names_nobody_tells_no_more_than_that_it_was_preempted(message: str) -> None:
    """Whoever may write its status writes what stands there."""
    found = read(message)
    assert (found.ask_uid, found.ask_place, found.place, found.why) == ("", "", "/cq-a", "InCohortReclamation")


def test_what_is_no_word_is_no_reason() -> None:
    """The reason is shown to people, and filtered by."""
    assert read(CLASSIC, "<b>no</b>").why == ""
    assert read(CLASSIC, "ConfigurablePreemption").why == "ConfigurablePreemption"


def test_the_condition_evicted_alone_tells_of_it_in_old_versions() -> None:
    """It has no word for why there."""
    only = condition("Evicted", "Preempted", "Preempted to accommodate a higher priority Workload")
    found = WORKLOAD_READER.from_bytes(written(only)).preempted
    assert found is not None
    assert (found.why, found.at_ms) == ("", AT_MS)


@pytest.mark.parametrize(
    "conditions",
    [
        [condition("Evicted", "PodsReadyTimeout", "Exceeded the PodsReady timeout")],
        [condition("Evicted", "Deactivated", "The workload is deactivated")],
        [
            condition("Evicted", "QuotaReserved", f"Previously: {CLASSIC}", "False"),
            condition("Preempted", "QuotaReserved", f"Previously: {CLASSIC}", "False"),
        ],
        [],
    ],
)
def test_what_was_evicted_otherwise_or_is_admitted_again_is_not_preempted(conditions: list[dict[str, Any]]) -> None:
    """When it was before, nobody knows any more."""
    assert WORKLOAD_READER.from_bytes(written(*conditions)).preempted is None


@pytest.mark.parametrize(
    "data",
    [
        written(condition("Preempted", "InClusterQueue", CLASSIC, at=None)),
        written(name=None),
        written(uid=None),
        b'{"metadata": 1}',
    ],
)
def test_one_that_can_not_be_read_is_odd(data: bytes) -> None:
    """Skipped and told, as every object that can't be read."""
    with pytest.raises(DecodeError):
        WORKLOAD_READER.from_bytes(data)


def test_a_pod_tells_which_workload_it_is_part_of_and_since_when_it_is_on_its_way_out() -> None:
    """A deletionTimestamp is the end of the grace period."""
    meta: dict[str, Any] = {"name": "p", "annotations": {"kueue.x-k8s.io/workload": "job-train-1a2b3"}}
    going = meta | {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30}
    found = decode_pod({"metadata": going})
    assert (found.workload, found.terminating, found.deleted_ms) == ("job-train-1a2b3", True, AT_MS)
    assert decode_pod({"metadata": meta}).deleted_ms is None


@pytest.mark.parametrize(("message", "told"), [(CLASSIC, f"job {JOB}"), (CLASSIC.replace(JOB, "UNKNOWN"), "")])
def test_the_job_of_the_one_that_it_went_for_is_kept(message: str, told: str) -> None:
    """Its Workload may be gone by the time that somebody asks for whom it was."""
    assert read(message).ask_application == told
