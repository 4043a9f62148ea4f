"""What ``make release`` builds: each file is named after the version, listed in the checksums, and usable."""

import json
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from tests.deploy import release
from tests.deploy.test_compose import BASE
from tests.deploy.test_versions import CHANGELOG, VERSION
from tests.waiting import PATIENCE_S

LOG = """\
# Changelog

## [Unreleased]

## [1.1.0] - 2026-02-01

### Added

- A thing.

## [1.0.0] - 2026-01-01

- The first.
"""


def test_the_notes_are_the_section_of_the_version() -> None:
    assert release.notes(LOG, "1.1.0") == "### Added\n\n- A thing.\n"
    assert release.notes(LOG, "1.0.0") == "- The first.\n"
    with pytest.raises(release.Unready, match=r"no section for 1\.0"):
        release.notes(LOG, "1.0")
    assert release.notes(CHANGELOG, VERSION).startswith("### ")


def test_a_tag_that_is_not_of_the_version_is_not_released() -> None:
    release.check_tag(f"v{VERSION}", LOG)
    with pytest.raises(release.Unready, match="not that of version"):
        release.check_tag("v9.9.9", LOG)


def test_changes_without_a_version_are_not_released() -> None:
    waiting = LOG.replace("## [Unreleased]\n", "## [Unreleased]\n\n- Another thing.\n")
    assert (release.unreleased(LOG), release.unreleased(waiting)) == (False, True)
    with pytest.raises(release.Unready, match="unreleased changes"):
        release.check_tag(f"v{VERSION}", waiting)


def test_one_file_for_all_has_what_the_oldest_python_needs_on_any_system() -> None:
    text = release.lock_for_all((release.CLIENT / "requirements.lock").read_text(encoding="utf-8"))
    assert re.findall(r"^([a-z0-9]+)==(\d+\.\d+)", text, re.MULTILINE) == [
        ("click", "8.1"),
        ("colorama", "0.4"),
        ("pyyaml", "6.0"),
        ("urllib3", "2.6"),
    ]
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\S)", text.strip()))


def test_checksums_are_as_sha256sum_reads_them(tmp_path: Path) -> None:
    for name in ("b.whl", "a.tgz"):
        (tmp_path / name).write_text(name)
    text = release.checksums(tmp_path)
    (tmp_path / "SHA256SUMS").write_text(text)
    assert [line.split("  ")[1] for line in text.splitlines()] == ["a.tgz", "b.whl"]
    assert release.checksums(tmp_path) == text
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True, timeout=PATIENCE_S)


def test_there_is_an_sbom_of_the_image_and_one_of_the_client(tmp_path: Path) -> None:
    release.boms(tmp_path)
    found = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    assert set(found) == {f"scheduler-admin-{VERSION}.cdx.json", f"scheduler-admin-client-{VERSION}.cdx.json"}
    client = found[f"scheduler-admin-client-{VERSION}.cdx.json"]
    assert client["metadata"]["component"]["name"] == "scheduler-admin-client"
    assert {one["name"] for one in client["components"]} == {"click", "colorama", "pyyaml", "urllib3"}


def test_where_nothing_builds_images_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert release.image(tmp_path) is None
    assert capsys.readouterr().out == "No image: none of buildah, docker, podman works here.\n"


def test_the_documentation_is_packed_so_that_a_web_server_can_serve_it(tmp_path: Path) -> None:
    release.documentation(tmp_path)
    with tarfile.open(tmp_path / f"scheduler-admin-docs-{VERSION}.tar.gz") as package:
        names = {name.removeprefix("./") for name in package.getnames()}
    assert {"index.html", "search.json", "docs/concepts/index.html", "docs/concepts.md/index.html"} <= names
    assert {path for path in names if path.startswith((".", "/"))} <= {"."}


@pytest.mark.helm
@pytest.mark.usefixtures("built_helm")
def test_the_chart_is_packaged_with_all_that_it_links_to(tmp_path: Path) -> None:
    with tarfile.open(release.chart(tmp_path)) as package:
        members = {member.name: member for member in package.getmembers()}
        described = package.extractfile("scheduler-admin/Chart.yaml")
        assert described is not None
        assert yaml.safe_load(described)["version"] == VERSION
    assert [name for name, member in members.items() if not member.isfile() or not member.size] == []


def test_the_recipe_passes_the_tag_on() -> None:
    recipe = (BASE / "Makefile").read_text(encoding="utf-8").split("\nrelease: ")[1].split("\n\n")[0]
    assert re.search(r"-m tests\.deploy\.release .*\$\(if \$\(TAG\),--tag \$\(TAG\)\)", recipe)
