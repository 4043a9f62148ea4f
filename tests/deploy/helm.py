"""helm itself, built once from the module that pins it, and what it makes of the chart.

``python -m tests.deploy.helm`` builds it, some minutes. It is kept beside the control plane's programs.
"""

import fcntl
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane import binaries
from tests.waiting import PATIENCE_S

CHART = Path(__file__).resolve().parents[2] / "deploy" / "chart"
RELEASE, NAMESPACE = "prod", "chart-of-ours"
NAME = f"{RELEASE}-scheduler-admin"
"""What the release's objects are called: other than in deploy/, so that what is not replaced is seen."""
PROCESSES = frozenset({"web", "engine", "housekeeping", "comparisons", "beat", "migrate"})
WORKERS = ("engine", "housekeeping", "comparisons")

Values = Mapping[str, Any]
Manifest = dict[str, Any]


def program() -> Path:
    """Where the program is, or will be: under a name made of what it is built from."""
    mark = hashlib.sha256((binaries.HERE / "helm" / "go.mod").read_bytes()).hexdigest()[:12]
    return binaries.cache() / f"helm-{mark}"


def build() -> Path:
    """Build the program if it is missing; who comes second waits. Raises subprocess.CalledProcessError."""
    wanted = program()
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with (wanted.parent / ".helm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.is_file():
            binaries.compile_program("helm", "helm.sh/helm/v4/cmd/helm", wanted)
    return wanted


def helm(*arguments: str | Path, values: Values | None = None) -> subprocess.CompletedProcess[str]:
    """Run it, with values by its standard input; it finds nothing of the user's own, and what it caches goes."""
    given = ["--values", "-"] if values is not None else []
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(
            [program(), *arguments, *given],
            input=json.dumps(values),
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": home},
            timeout=PATIENCE_S,
            check=False,
        )


def template(values: Values, chart: Path = CHART) -> subprocess.CompletedProcess[str]:
    """What `helm template` says."""
    return helm("template", RELEASE, chart, "--namespace", NAMESPACE, values=values)


def rendered(values: Values, chart: Path = CHART) -> list[Manifest]:
    """Every object that is made of the values."""
    done = template(values, chart)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Values over values, as helm lays them."""
    nested = {key: merged(one[key], value) for key, value in other.items() if isinstance(one.get(key), dict)}
    return {**one, **other, **nested}


def named(objects: list[Manifest], kind: str) -> dict[str, Manifest]:
    """The objects of a kind by their names without the release's."""
    return {one["metadata"]["name"].removeprefix(NAME).removeprefix("-"): one for one in objects if one["kind"] == kind}


def pods(objects: list[Manifest]) -> dict[str, Manifest]:
    """The templates of all pods, by what they are."""
    found = named(objects, "Deployment") | named(objects, "Job")
    return {name: one["spec"]["template"] for name, one in found.items()}


def selects(selector: Manifest, pod: Manifest) -> bool:
    """Whether a label selector chooses a pod."""
    labels = pod["metadata"]["labels"]
    among = [labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", ())]
    return selector["matchLabels"].items() <= labels.items() and all(among)


def container(pod: Manifest) -> Manifest:
    (only,) = pod["spec"]["containers"]
    found: Manifest = only
    return found


def environment(objects: list[Manifest], pod: Manifest) -> dict[str, Any]:
    """What a process is given: texts, and references into secrets."""
    maps = named(objects, "ConfigMap")
    given: dict[str, Any] = {}
    for source in container(pod).get("envFrom", ()):
        given |= maps[source["configMapRef"]["name"].removeprefix(f"{NAME}-")].get("data") or {}
    return given | {one["name"]: one.get("value", one.get("valueFrom")) for one in container(pod)["env"]}


if __name__ == "__main__":
    build()
