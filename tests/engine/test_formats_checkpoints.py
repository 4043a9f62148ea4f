"""The annotation by which a pod tells of its last checkpoint."""

import pytest

from engine.formats.kubernetes.decode import decode_pod
from engine.model.decision import PodFacts
from engine.model.objects import Pod
from tests.engine.kubernetes_objects import pod

NOON_MS = 1_767_268_800_000
"""2026-01-01T12:00:00Z."""


def read(said: str) -> Pod:
    """A pod whose annotation says so."""
    return decode_pod(pod(annotations={"scheduler-admin.io/last-checkpoint": said}))


@pytest.mark.parametrize(
    ("said", "at_ms"),
    [
        ("2026-01-01T12:00:00Z", NOON_MS),
        ("2026-01-01T20:00:00+08:00", NOON_MS),
        ("2026-01-01T12:00:00.250Z", NOON_MS + 250),
        ("1970-01-01T00:00:00Z", 0),
    ],
)
def test_a_time_is_read_in_whatever_zone_it_is_told(said: str, at_ms: int) -> None:
    """And kept with what a decision keeps of the pod."""
    assert read(said).checkpoint_ms == at_ms
    assert PodFacts.of(read(said)).checkpoint_ms == at_ms
    assert read(said).odd_checkpoint == ""


@pytest.mark.parametrize(
    "said",
    [
        "2026-01-01T12:00:00",
        "1767268800",
        "yesterday",
        "2026-13-01T12:00:00Z",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_what_is_no_time_is_kept_to_be_told(said: str) -> None:
    """The pod is read all the same; without an offset nobody knows which moment is meant."""
    assert (read(said).checkpoint_ms, read(said).odd_checkpoint) == (None, said)
    assert PodFacts.of(read(said)).odd_checkpoint == said


def test_of_a_long_text_only_the_beginning_is_kept() -> None:
    """As it may be of any length, and hold what no database takes."""
    assert read("\0" + "x" * 300).odd_checkpoint == "x" * 64


@pytest.mark.parametrize("annotations", [None, {}, {"scheduler-admin.io/last-checkpoint": ""}])
def test_a_pod_that_says_nothing_has_none(annotations: dict[str, str] | None) -> None:
    """An empty text is nothing, too."""
    read = decode_pod(pod(annotations=annotations))
    assert (read.checkpoint_ms, read.odd_checkpoint) == (None, "")
