"""A saved snapshot as a file: what is packed is unpacked, and whatever else is sent is turned away in a sentence."""

import json
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.__main__ import SOME_ERRORS, SOUND, USAGE, main
from engine.cli.forecast import tree_of_document, whole_cluster
from engine.formats.tree_json.canonical import encode_tree
from engine.formats.yaml.manifests import ManifestError, load
from engine.model.notes import ImportFailure
from engine.model.snapshot import ClusterState
from engine.planning import journal
from engine.planning.bundle import BundleError, pack, unpack
from engine.planning.journal import PassInputs
from tests.builders import NOW, ask, node, pod, queue, reservation, tree
from tests.engine.test_journal import state_of

ROOM = 10**9
TREE = tree({"prod": queue("4"), "test": queue("1", namespaces=("ns",))})
TERMS = {"policy": "fence", "dialect": "design", "parameters": {}}
MOMENT = PassInputs(
    now_ms=NOW, reservations=(reservation(ask("p", queue="prod"), node="n1"),), going=frozenset({"uid-t0"})
)


def labelled(name: str, queue: str, **settings: Any) -> Any:
    """A pod that says by a label which queue it is of, as one that was read does."""
    labels = {"queue": f"root.{queue}"}
    return msgspec.structs.replace(pod(name, **settings), labels=labels, queue_label=f"root.{queue}")


def crowded() -> ClusterState:
    """Test holds all of a node, and Prod asks under its guarantee."""
    asking = msgspec.structs.replace(labelled("p", "prod", cpu=2), unschedulable_ms=0)
    return state_of(node("n1", 4), [labelled(f"t{n}", "test", node="n1") for n in range(4)], asking)


def zipped(**files: str) -> bytes:
    """A zip of files by their names, dots written as two underscores, slashes as one more."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, text in files.items():
            file.writestr(name.replace("___", "/").replace("__", "."), text)
    return packed.getvalue()


def test_what_is_packed_is_unpacked() -> None:
    state = crowded()
    found = unpack(pack(state, MOMENT, TREE, TERMS), ROOM)
    again, ignored, _ = whole_cluster(found.objects)
    state.namespaces = again.namespaces
    assert journal.same_state(again, state)
    assert (ignored, found.moment) == ((), MOMENT)
    asked = tree_of_document(found.tree)
    assert asked.tree is not None
    assert encode_tree(asked.tree) == encode_tree(TREE)
    assert (asked.policy, asked.dialect) == ("fence", "design")


def test_the_same_snapshot_gives_the_same_bytes() -> None:
    assert pack(crowded(), MOMENT, TREE, TERMS) == pack(crowded(), MOMENT, TREE, TERMS)


def test_objects_alone_are_taken_as_kubectl_writes_them() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n"}}]}
    found = unpack(json.dumps(listed).encode(), ROOM)
    assert whole_cluster(found.objects)[0].nodes.keys() == {"n"}
    assert (found.tree, found.moment) == (None, None)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "neither a saved snapshot nor JSON"),
        (b"kind: Pod", "neither a saved snapshot nor JSON"),
        (b"[1]", "does not contain a Kubernetes object"),
        (b"[" * 100_000, "neither a saved snapshot nor JSON"),
        (zipped(notes__txt="hello"), "It contains no manifest file, such as"),
        (zipped(manifests___a__json="{"), "manifests/a.json can't be read:"),
        (zipped(manifests___a__json="{}", moment__json="[]"), "moment.json can't be read:"),
        (zipped(manifests___a__json="{}", tree__json="{"), "tree.json can't be read:"),
        (zipped(manifests___a__json="{}")[:-40], "neither a saved snapshot nor JSON"),
    ],
)
def test_what_is_no_snapshot_is_turned_away(data: bytes, says: str) -> None:
    with pytest.raises(BundleError, match=says):
        unpack(data, ROOM)


def test_a_zip_that_swells_is_read_no_further_than_there_is_room() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifests/a.json", "{" + " " * 50_000_000)
    assert len(packed.getvalue()) < 100_000
    with pytest.raises(BundleError, match="more than 1 MB"):
        unpack(packed.getvalue(), 1_000_000)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_can_only_be_unpacked_whole_is_not_read_at_all(packing: int) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as file:
        file.writestr("manifests/a.json", "{}")
    with pytest.raises(BundleError, match=r"manifests/a\.json is compressed in a way that zip programs do not use"):
        unpack(packed.getvalue(), ROOM)


def test_a_zip_with_bytes_that_are_not_packed_is_turned_away() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifests/a.json", "{" + " " * 1000)
    begins = len("manifests/a.json") + 30
    with pytest.raises(BundleError, match="The zip can't be read:"):
        unpack(packed.getvalue()[:begins] + b"\xff" + packed.getvalue()[begins + 1 :], ROOM)


@given(st.binary(max_size=300))
def test_whatever_is_sent_is_read_or_turned_away(data: bytes) -> None:
    for sent in (data, zipped(manifests___a__json="{}") + data, zipped(manifests___a__json="{}")[: len(data)]):
        with suppress(BundleError):
            assert unpack(sent, ROOM).objects


def test_a_zip_that_lost_its_first_byte_is_turned_away() -> None:
    """Its table of contents then leads to before its beginning."""
    with pytest.raises(BundleError, match="The zip can't be read:"):
        unpack(zipped(manifests___a__json="{}")[1:], ROOM)


@pytest.mark.parametrize("document", [True, 7, None, [], "x"])
def test_a_tree_that_is_no_mapping_is_turned_away(document: Any) -> None:
    """As one that says nothing."""
    with pytest.raises(ImportFailure, match="must begin with partitions"):
        tree_of_document(document)


@pytest.mark.parametrize("items", [True, 7, "x", {}])
def test_a_list_whose_items_are_none_is_turned_away(items: Any) -> None:
    """With where it stands."""
    with pytest.raises(ManifestError, match="items must be a list"):
        list(load([{"apiVersion": "v1", "kind": "List", "items": items}]))


class TestTheCommandLine:
    def test_looks_into_a_snapshot_under_its_own_tree(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "saved.zip"
        file.write_bytes(pack(crowded(), PassInputs(now_ms=NOW), TREE, TERMS))
        assert main(["forecast", "--snapshot", str(file)]) == SOUND
        assert "Preempted pods: 2" in capsys.readouterr().out

    def test_and_under_another(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file, other = tmp_path / "saved.zip", tmp_path / "tree.json"
        file.write_bytes(pack(crowded(), PassInputs(now_ms=NOW), TREE, TERMS))
        other.write_text('{"queues": [{"path": "root"}, {"path": "root.prod"}, {"path": "root.test"}]}')
        assert main(["forecast", "--snapshot", str(file), "--tree", str(other)]) == SOUND
        assert "Preempted pods: 0" in capsys.readouterr().out

    def test_says_what_it_can_not_read(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "saved.zip"
        assert main(["forecast", "--snapshot", str(file)]) == USAGE
        file.write_bytes(b"hello")
        assert main(["forecast", "--snapshot", str(file)]) == USAGE
        file.write_bytes(zipped(manifests___a__json='{"kind": "Pod"}'))
        assert main(["forecast", "--snapshot", str(file)]) == USAGE
        file.write_bytes(pack(crowded(), MOMENT, TREE, {**TERMS, "parameters": {"speed": 1}}))
        assert main(["forecast", "--snapshot", str(file)]) == SOME_ERRORS
        assert len(capsys.readouterr().err.splitlines()) == 4
