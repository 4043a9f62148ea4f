"""The replay file of a decision: the engine alone decides it again, and says whether it comes out the same."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone

from engine.__main__ import SOME_ERRORS, SOUND, USAGE, main
from engine.cli.forecast import tree_of_document, whole_cluster
from engine.cli.replay import replay_bundle
from engine.model.objects import Pod
from engine.planning.bundle import pack, unpack
from scheduler_admin.accounts.models import User
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.decisions.replay.replay_file import replay_file
from scheduler_admin.journal.models import JournalEntry
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import Terms
from tests.builders import ask, node, pod, rewrite
from tests.decisions.test_rewind import TREE as SIDES
from tests.decisions.test_rewind import full, seen
from tests.worker.conftest import add_cluster
from tests.worker.execution_scenes import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
ROOM = 10**9
WAYS = ["fence/design", "fence/yunikorn", "priority/kube-scheduler", "cohort/kueue", "fair-share/kueue"]


def of(leaf: str) -> dict[str, Any]:
    """A pod of a queue says so by its label, as those do that are read from a cluster."""
    return {"queue": f"root.{leaf}", "labels": {"queue": f"root.{leaf}"}}


def crowded(*more: Pod, cpu: int = 2) -> Watch:
    """Test holds all of the node, Prod asks under its guarantee."""
    pods = [pod(f"test-{number}", node="n1", priority=1, **of("test")) for number in range(4)]
    return Watch(node("n1", 4), pods, ask("prod-0", priority=9, cpu=cpu, **of("prod")), *more)


def decided(way: str, watch: Watch) -> Decision:
    """By a policy, told and not acted on."""
    policy, _slash, dialect = way.partition("/")
    add_cluster(mode="advise", terms=Terms(policy, dialect))
    return run(watch)


def test_rest_hands_it_to_those_who_see_everything(client: Client) -> None:
    row = decided(WAYS[0], crowded())
    client.force_login(User.objects.create_user("eve", role=User.Role.AUDITOR))
    answer = client.get(f"/api/v1/decisions/{row.pk}/replay")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert replay_bundle(unpack(answer.content, ROOM)).same


def test_rest_says_so_where_what_was_seen_is_gone(client: Client) -> None:
    row = decided(WAYS[0], crowded())
    JournalEntry.objects.all().delete()
    client.force_login(User.objects.create_user("eve", role=User.Role.AUDITOR))
    answer = client.get(f"/api/v1/decisions/{row.pk}/replay")
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "This decision cannot be replayed, or the data for it is no longer stored.",
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_decision_by_any_policy_comes_out_the_same(way: str) -> None:
    """From the file alone, whatever became of the cluster."""
    row = decided(way, crowded(cpu=4 if way.endswith("kueue") else 2))  # there quota is what there is too little of
    found = replay_bundle(unpack(replay_file(row), ROOM))
    assert found.same
    assert found.again is not None
    assert found.again.victims


def test_under_deserved_those_who_are_told_to_give_back_are_told_again() -> None:
    """At first nobody goes: there is a grace period."""
    add_cluster(mode="advise", terms=Terms("deserved", "arbitrator"))
    with pytest.raises(Decision.DoesNotExist):
        run(crowded())
    row = Decision.objects.get(ask_name="prod-0")
    found = replay_bundle(unpack(replay_file(row), ROOM))
    assert found.same
    assert [one.queue for one in found.decision.notices] == ["root.test"]


def test_of_several_asks_each_is_decided_in_its_turn() -> None:
    """The second one finds the first one's victims taken."""
    add_cluster(mode="advise")
    run(crowded(ask("prod-1", priority=8, **of("prod"))))
    rows = Decision.objects.all()
    assert {row.ask_name for row in rows} == {"prod-0", "prod-1"}
    assert all(replay_bundle(unpack(replay_file(row), ROOM)).same for row in rows)


@pytest.mark.parametrize("by", ["kube-scheduler", "yunikorn"])
def test_of_another_scheduler_its_own_rules_are_asked_again(by: str) -> None:
    """On the cluster of just before."""
    cluster, watch = add_cluster(SIDES, mode="observe"), full()
    rewrite(Revision.objects.all(), published_at=timezone.now() - timedelta(minutes=1))
    for one in list(watch.state.pods.values()):
        watch.put(msgspec.structs.replace(one, labels={"queue": one.queue_label}))
    row = seen(cluster, watch, "b-0", "b-1", by=by)
    found = replay_bundle(unpack(replay_file(row), ROOM))
    assert found.same
    assert {one.pod.name for one in found.decision.victims} == {"b-0", "b-1"}


class TestTheCommand:
    """``python -m engine replay``."""

    def test_tells_the_decision_and_that_it_is_the_same(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """In a sentence, victim by victim."""
        file = tmp_path / "decision.zip"
        file.write_bytes(replay_file(decided("fence/design", crowded())))
        assert main(["replay", str(file)]) == SOUND
        told = capsys.readouterr().out
        assert told.startswith(
            "prod-0 needed 2 cores on one node while prod was 4 cores below its guarantee, so 2 pods of"
        )
        assert "ns/test-0: over-guarantee" in told
        assert told.endswith("The replayed decision is identical to the recorded one.\n")

    def test_says_so_where_it_comes_out_otherwise(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Here somebody raised Test's guarantee in the file."""
        found = unpack(replay_file(decided("fence/design", crowded())), ROOM)
        found.tree["queues"] = [
            one | ({"guaranteed": {"cpu": "4"}} if one["path"] == "root.test" else {}) for one in found.tree["queues"]
        ]
        given, (state, *_) = tree_of_document(found.tree), whole_cluster(found.objects[0]["items"])
        assert given.tree is not None
        assert found.moment is not None
        terms = {"policy": given.policy, "dialect": given.dialect, "parameters": given.parameters}
        file = tmp_path / "decision.zip"
        file.write_bytes(pack(state, found.moment, given.tree, terms, found.saved))
        assert main(["replay", "--json", str(file)]) == SOME_ERRORS
        told = json.loads(capsys.readouterr().out)
        assert (told["same"], told["then"]["outcome"], told["now"]["outcome"]) == (False, "preempt", "no-candidate")

    def test_needs_a_decision(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A saved snapshot holds none; neither does a file that is not there."""
        found = unpack(replay_file(decided("fence/design", crowded())), ROOM)
        file = tmp_path / "snapshot.zip"
        given, (state, *_) = tree_of_document(found.tree), whole_cluster(found.objects[0]["items"])
        assert given.tree is not None
        assert found.moment is not None
        file.write_bytes(pack(state, found.moment, given.tree, {"policy": given.policy}))
        assert main(["replay", str(file)]) == USAGE
        assert main(["replay", str(tmp_path / "none.zip")]) == USAGE
        told = capsys.readouterr().err
        assert "no decision to replay" in told
        assert "none.zip cannot be read" in told


def test_the_page_offers_it_to_those_who_see_everything(client: Client) -> None:
    """It holds the whole cluster. Without a journal there is none."""
    row = decided("fence/design", crowded())
    address = f"/clusters/east/decisions/{row.pk}/"
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    assert f"{address}replay.zip" in client.get(address).content.decode()
    assert replay_bundle(unpack(client.get(f"{address}replay.zip").content, ROOM)).same
    client.force_login(User.objects.create_user("tim", role=User.Role.TENANT))
    assert client.get(f"{address}replay.zip").status_code == 404
    JournalEntry.objects.all().delete()
    client.force_login(User.objects.get(username="ada"))
    assert client.get(f"{address}replay.zip").status_code == 404
    assert "replay.zip" not in client.get(address).content.decode()
    with pytest.raises(CannotReplayError):
        replay_file(Decision.objects.get(pk=row.pk))
