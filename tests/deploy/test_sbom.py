"""What `make sbom` writes names all that the image is built of, and nothing else."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.deploy.test_compose import BASE
from tests.waiting import PATIENCE_S

LOCK = (BASE / "requirements.lock").read_text(encoding="utf-8")


def recipe(target: str) -> str:
    """The commands of a target, each in one line."""
    text = (BASE / "Makefile").read_text(encoding="utf-8")
    return text.split(f"\n{target}: setup")[1].split("\n\n")[0].replace("\\\n", " ")


def test_it_names_what_is_locked(tmp_path: Path) -> None:
    """Each package in its version, with the hashes that the image is built by; the recipe as it stands."""
    (command,) = re.findall(r"bin/cyclonedx-py (.*)", recipe("sbom"))
    words = [str(tmp_path / "sbom.json") if word == "var/sbom.json" else word for word in shlex.split(command)]
    program = [sys.executable, "-m", "cyclonedx_py", *words]
    subprocess.run(program, cwd=BASE, check=True, capture_output=True, timeout=PATIENCE_S)
    found = json.loads((tmp_path / "sbom.json").read_text(encoding="utf-8"))
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert found["metadata"]["component"]["name"] == "scheduler-admin"
    locked = dict(re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==([^ ;]+)", LOCK, re.MULTILINE))
    assert {one["name"]: one["version"] for one in found["components"]} == locked
    hashes = {
        each["content"] for one in found["components"] for ref in one["externalReferences"] for each in ref["hashes"]
    }
    assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", LOCK))


def test_the_audit_is_of_all_that_is_locked_and_passes_over_nothing() -> None:
    """What could not be looked up is no good news."""
    command = recipe("audit")
    assert "--strict" in command
    assert "-r requirements-dev.lock" in command


def test_what_only_builds_static_files_and_catalogs_is_not_in_the_image() -> None:
    """Nor is it in the SBOM, which names what is locked for the image."""
    assets = (BASE / "requirements-assets.lock").read_text(encoding="utf-8")
    names = {
        name: set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)) for name, text in (("a", assets), ("i", LOCK))
    }
    assert {"plotly", "fonttools", "babel"} <= names["a"] - names["i"]
    assert names["a"] & names["i"] == {"packaging"}
