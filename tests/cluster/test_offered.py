"""From afar only such kubeconfigs are chosen as lie where the installation says, and nobody else has written."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.connecting import offered
from engine.cluster.connecting.kubeconfig import Kubeconfig
from engine.cluster.connecting.offered import OfferedFiles
from engine.cluster.errors import SettingsError
from tests.cluster.offering import of, running

TEXT = of({"token": "t"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of the test's own, as if it were not below /tmp."""
    monkeypatch.setattr(offered, "NEVER", tuple(path for path in offered.NEVER if not tmp_path.is_relative_to(path)))
    made = tmp_path / "kubeconfigs"
    made.mkdir(mode=0o700)
    (made / "config").write_text(TEXT)
    return made


def offers(*places: Path) -> list[str]:
    """The names of the files that are offered."""
    return [Path(path).name for path in OfferedFiles(places).offered()]


def test_the_kubeconfigs_of_a_folder_and_single_files_are_offered(folder: Path, tmp_path: Path) -> None:
    """Not what else lies there, and nothing of folders within."""
    (folder / "notes.txt").write_text("no kubeconfig")
    (folder / "cache").mkdir()
    (folder / "cache" / "config").write_text(TEXT)
    alone = tmp_path / "alone"
    alone.write_text(TEXT)
    assert offers(folder, alone, tmp_path / "nowhere") == ["alone", "config"]


def test_places_are_named_as_in_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several, one's home, and those that a variable names, if it is set."""
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("KUBECONFIG", "/y:/z")
    found = OfferedFiles.of(f"~/{folder.name}::/x:$KUBECONFIG:$NOBODY_SETS_THIS").paths
    assert found == (folder, *map(Path, ("/x", "/y", "/z")))


@pytest.mark.parametrize("mode", [0o666, 0o646])
def test_a_file_that_others_may_write_is_not(folder: Path, mode: int) -> None:
    (folder / "config").chmod(mode)
    assert offers(folder) == []


def test_nor_any_in_a_folder_that_others_may_write(folder: Path) -> None:
    """They could put another in its place."""
    folder.chmod(0o777)
    assert offers(folder) == []


def test_nor_one_that_is_somebody_elses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if we, and root, were others than who has made these files."""
    monkeypatch.setattr(offered, "_ROOT", -1)
    monkeypatch.setattr(os, "geteuid", lambda: -2)
    assert offers(folder) == []


def test_nor_one_that_a_link_leads_to_elsewhere(folder: Path, tmp_path: Path) -> None:
    """A link within is as good as a file: so Secrets are mounted."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(TEXT)
    (folder / "within").symlink_to("config")
    (folder / "away").symlink_to(elsewhere)
    assert offers(folder) == ["config", "within"]


@pytest.mark.parametrize("place", ["/tmp", "/proc/self/fd", "/dev/fd"])
def test_nor_what_lies_where_anybody_leaves_files(tmp_path: Path, place: str) -> None:
    """Also where the installation says so by mistake: an upload's file is there while it comes."""
    left = tmp_path / "config"
    left.write_text(TEXT)
    with left.open() as file:
        path = {"/tmp": str(left)}.get(place, f"{place}/{file.fileno()}")
        assert Path(path).read_text() == TEXT
        with pytest.raises(SettingsError, match="not one of the kubeconfigs"):
            OfferedFiles((Path(place), Path(path))).check(path)


def test_what_is_not_offered_is_not_looked_at(folder: Path, tmp_path: Path) -> None:
    """The same sentence for a file that is there and one that is not."""
    sentences = set()
    for name in ("secret", "nothing"):
        (tmp_path / "secret").write_text("x")
        with pytest.raises(SettingsError) as refused:
            OfferedFiles((folder,)).check(str(tmp_path / name))
        sentences.add(refused.value.sentence.id)
    assert len(sentences) == 1


@pytest.fixture
def left(tmp_path: Path) -> Iterator[Path]:
    """A file that others may write."""
    file = tmp_path / "left"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o777)
    return file


@pytest.mark.parametrize("key", ["tokenFile", "client-certificate", "client-key", "exec", "certificate-authority"])
@pytest.mark.parametrize("relative", [True, False])
def test_what_it_names_is_nothing_that_others_may_write(folder: Path, left: Path, key: str, relative: bool) -> None:
    """Neither by a path of its own nor by one from its folder, which may lead out."""
    named = f"../{left.name}" if relative else str(left)
    texts: dict[str, Any] = {"exec": running(named), "certificate-authority": of({}, **{key: named})}
    (folder / "config").write_text(texts.get(key) or of({key: named}))
    entry = Kubeconfig.at(str(folder / "config")).entry()
    with pytest.raises(SettingsError, match="Other users can modify"):
        OfferedFiles((folder,)).check_named(entry)
    left.chmod(0o755)
    OfferedFiles((folder,)).check_named(entry)
