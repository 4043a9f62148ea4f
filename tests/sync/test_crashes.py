"""A process that is killed while it writes a tree back is continued by the next: written once, and known to be."""

import signal
from pathlib import Path

import pytest

from engine.cluster.sync.config_map import KEY
from simulator.kubeconfig import kubeconfig as config_of
from tests.cluster.doubles import simulate
from tests.enforce.worker import NAME, Worker
from tests.sync.builders import CONFIG, TEXT, changed

pytestmark = pytest.mark.e2e


POINTS = ("write asked", "write answered")
"""Before the API server is asked, and after it has done it."""


def test_what_was_asked_for_is_done_once_although_its_process_was_killed(tmp_path: Path) -> None:
    """At each point, one after the other."""
    tree, kubeconfig = tmp_path / "queues.yaml", tmp_path / "kubeconfig"
    tree.write_text(TEXT)
    with simulate() as theirs:
        theirs.create("configmaps", {"metadata": {"name": CONFIG, "namespace": "default"}, "data": {KEY: TEXT}})
        kubeconfig.write_text(config_of(theirs.address))
        ours = Worker(tmp_path / "ours")
        ours.set_up(kubeconfig=kubeconfig, tree=tree)
        assert "same as revision" in ours.manage("apply_tree", NAME, "--namespace", "default").said
        for count, point in enumerate(POINTS, start=1):
            tree.write_text(changed(cpu=f"{count + 4}"))
            assert ours.manage("import_queues", NAME, str(tree), "--reason", "more").code == 0
            killed = ours.manage("apply_tree", NAME, "--reason", "as agreed", fault=f"kill:{point}")
            assert killed.code == -signal.SIGKILL, killed.said
            assert states(ours)[-1] == "in-progress"
            continued = ours.manage("apply_tree", NAME)
            assert continued.code == 0, continued.said
            assert f"same as revision {count + 1}" in continued.said
            assert states(ours) == ["written"] * count
            assert theirs.get("configmaps", "default", CONFIG)["data"][KEY] == tree.read_text()
            assert [one.code for one in theirs.audit if one.verb == "patch"] == [200] * count


def states(ours: Worker) -> list[str]:
    """What came of all that was asked for."""
    return [row["state"] for row in ours.rows("SELECT state FROM copies_writing ORDER BY id")]
