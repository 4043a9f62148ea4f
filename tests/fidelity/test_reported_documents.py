"""Public trees and manifests that were read wrongly, or not at all: what each should come to."""

import json
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.formats import registry
from engine.formats.registry import Format
from engine.model.notes import ImportFailure, Severity
from engine.model.queue_tree import PreemptionPolicy
from tests.engine.test_kueue_objects import with_queue

FOLDER = Path(__file__).parent / "reported"
GI = 2**30


def text(name: str) -> str:
    """A document as it was reported."""
    return (FOLDER / name).read_text(encoding="utf-8")


def test_a_queues_yaml_is_read_and_written_back_inside_its_config_map() -> None:
    """As kubectl prints it, and as most people keep it."""
    document = text("19-yunikorn-configmap.yaml")
    found = registry.read(document)
    assert found.tree.leaves == ("root.lab.teams.usual", "root.lab.teams.urgent")
    assert found.tree["root.lab.teams"].preemption_policy is PreemptionPolicy.FENCE
    assert found.tree["root.lab.teams.urgent"].guaranteed == {"cpu": 300, "memory": 300 * 2**20}
    assert registry.write(Format.YUNIKORN, document, found.tree).text == document
    more = with_queue(found.tree, "root.lab.teams.urgent", guaranteed={"cpu": 400, "memory": 300 * 2**20})
    after = registry.write(Format.YUNIKORN, document, more).text
    assert len(set(after.splitlines()) - set(document.splitlines())) == 1
    assert registry.read(after).tree.queues == more.queues


def test_amounts_beside_resources_are_refused() -> None:
    """As YuniKorn refuses them, with where they belong."""
    with pytest.raises(ImportFailure) as refused:
        registry.read(text("21-yunikorn-amounts-beside-resources.yaml"))
    assert "line 7 root.production: guaranteed belongs inside resources" in str(refused.value)


def test_an_amount_with_a_space_in_it_is_read() -> None:
    """As YuniKorn reads it."""
    (leaf,) = registry.read(text("22-yunikorn-spaced-amount.yaml")).tree.leaves
    assert registry.read(text("22-yunikorn-spaced-amount.yaml")).tree[leaf].guaranteed["memory"] == 5 * GI


def test_a_field_of_another_version_is_told_with_its_name_in_this_one() -> None:
    """The API server would drop it."""
    found = registry.read(text("24-kueue-cohort-in-v1beta2.yaml"))
    (warning,) = [note.text for note in found.notes if note.severity is Severity.WARNING]
    assert warning.endswith("the API server drops it. Did you mean cohortName?")


@pytest.mark.parametrize(("name", "path"), [("26-volcano", "root.team-a.training"), ("27-kai", "root.production")])
def test_queues_of_other_schedulers_are_read_as_a_tree(name: str, path: str) -> None:
    """And nothing in them is wrong."""
    document = text(f"{name}-queues.yaml")
    assert registry.read(document).tree.leaves == (path,)
    assert main(["lint", str(FOLDER / f"{name}-queues.yaml")]) == 0


TREE = {
    "queues": [
        {"path": "root"},
        {"path": "root.prod", "guaranteed": {"cpu": 4}, "namespaces": ["prod"]},
        {"path": "root.test", "namespaces": ["test"], "evict_uncontrolled": True},
    ]
}


def forecast(folder: Path, manifests: str) -> int:
    """The exit code of a forecast for these manifests under the tree."""
    for name, given in (("tree.json", json.dumps(TREE)), ("manifests.yaml", manifests)):
        (folder / name).write_text(given, encoding="utf-8")
    return main(["forecast", "--manifests", str(folder / "manifests.yaml"), "--tree", str(folder / "tree.json")])


def test_manifests_that_were_written_by_hand_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without uid and times."""
    assert forecast(tmp_path, text("29-plain-manifests.yaml")) == 0
    said = capsys.readouterr().out
    assert "  prod/p (" in said
    assert "Preempted pods: 2." in said


def test_a_pod_that_asks_for_more_than_can_be_counted_stops_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It waits for ever, and everybody else's preemption goes on."""
    endless = text("28-pod-beyond-64-bits.yaml").replace("root.tenant-2.queue-2", "root.prod")
    assert forecast(tmp_path, f"{text('29-plain-manifests.yaml')}---\n{endless}") == 0
    assert "Preempted pods: 2." in capsys.readouterr().out
