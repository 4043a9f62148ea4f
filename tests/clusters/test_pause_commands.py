"""What one types at three in the morning."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from scheduler_admin.clusters.models import Cluster, Pause
from tests.worker.conftest import add_cluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    return add_cluster()


def typed(*words: str) -> str:
    """What a command prints."""
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_one_cluster_all_of_them_or_a_queue(cluster: Cluster) -> None:
    """Each is a pause of its own; resuming one names those that are left."""
    assert typed("pause", "east", "--reason", "disks") == "Paused: east\n"
    assert typed("pause", "--all", "--reason", "incident") == "Paused: all clusters\n"
    assert typed("pause", "east", "--queue", "root.prod", "--reason", "x") == "Paused: east root.prod\n"
    said = typed("resume", "--all")
    assert said.startswith("Resumed: all clusters\nStill paused: east since ")
    assert "by command line: disks" in said
    assert {str(pause) for pause in Pause.objects.all()} == {"east", "east root.prod"}


def test_a_pause_may_end_by_itself(cluster: Cluster) -> None:
    """After so many minutes."""
    typed("pause", "east", "--reason", "x", "--minutes", "30")
    pause = Pause.objects.get()
    assert pause.until is not None
    assert (pause.until - pause.at).total_seconds() == pytest.approx(1800, abs=1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("pause", "west", "--reason", "x"), "Cluster west does not exist."),
        (("pause", "east", "--queue", "root.nowhere", "--reason", "x"), "This queue does not exist."),
        (("pause", "--all", "--queue", "root.prod", "--reason", "x"), "Use --queue with the name of a cluster"),
        (("pause", "east", "--reason", " "), "blank"),
        (("pause", "east", "--reason", "x", "--minutes", "0"), "This time is in the past."),
        (("resume", "east"), "Not paused: east."),
        (("pause", "--reason", "x"), "required"),
    ],
)
def test_a_slip_is_told_and_changes_nothing(cluster: Cluster, words: tuple[str, ...], why: str) -> None:
    """Nobody believes that something is stopped which is not."""
    with pytest.raises(CommandError, match=why):
        typed(*words)
    assert not Pause.objects.exists()
