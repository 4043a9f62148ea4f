"""etcd and the Kubernetes control plane as binaries: built once from the pinned modules beside this file, and kept.

``python -m tests.controlplane.binaries`` builds those of one release, 10 to 16 minutes on two cores, and with
``kube-1.37`` those of another; so does a long suite of the tests. They are kept outside the checkout under a name made
of what they are built from. KUBEBUILDER_ASSETS, a folder that has those of the first release already, is taken instead.
"""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runner import suites

SUITE = "control-plane"
"""The long suite that builds."""
HERE = Path(__file__).parent
RELEASE, GROUPS_RELEASE = "kube", "kube-1.37"
"""The modules that pin a release of Kubernetes: the one that most tests run on, and the first with groups of pods."""
KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
PROGRAMS = ("etcd", *KUBERNETES)
_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def folder(release: str = RELEASE) -> Path:
    """Where the binaries are, or will be."""
    if release == RELEASE and (given := os.environ.get("KUBEBUILDER_ASSETS")):
        return Path(given)
    pins = b"".join((HERE / module / "go.mod").read_bytes() for module in ("etcd", release))
    return cache() / f"controlplane-{hashlib.sha256(pins).hexdigest()[:12]}"


def cache() -> Path:
    """Where everything that is built from the modules is kept."""
    return suites.cache_home() / "scheduler-admin"


def missing(release: str = RELEASE) -> list[str]:
    """The programs that are not there yet."""
    return [program for program in PROGRAMS if not (folder(release) / program).is_file()]


def provide(what: str, there: Callable[[], bool], build: Callable[[], object]) -> None:
    """Build a program where this run is to; skip the test that asks for it where it was never built."""
    if there():
        return
    if not suites.runs(SUITE):
        pytest.skip(f"{what} was never built here: make test-long SUITE={SUITE} does, or python -m {__name__}")
    build()


def build(release: str = RELEASE) -> None:
    """Build what is missing; who comes second waits for who came first. Raises subprocess.CalledProcessError."""
    target = folder(release)
    target.mkdir(parents=True, exist_ok=True)
    with (target / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for program in missing(release):
            module, package = release, f"k8s.io/kubernetes/cmd/{program}"
            if program == "etcd":
                module, package = "etcd", "go.etcd.io/etcd/server/v3"
            compile_program(module, package, target / program)


def compile_program(module: str, package: str, wanted: Path) -> None:
    """Build one program of a module beside this file. Raises subprocess.CalledProcessError."""
    sys.stderr.write(f"Building {wanted.name} …\n")
    made = wanted.with_name(f".{wanted.name}")
    command = ["go", "build", "-p", "2", "-ldflags", _flags(module), "-o", str(made), package]
    subprocess.run(command, cwd=HERE / module, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    made.rename(wanted)  # whole or not at all


def _flags(module: str) -> str:
    """The linker's: without a version of its own the control plane refuses to start."""
    found = _pinned(module) or _pinned(RELEASE)
    assert found is not None
    version, major, minor = found.groups()
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    named = [f"-X {package}.{name}={value}" for package in _VERSION_PACKAGES for name, value in values.items()]
    return " ".join(["-s", "-w", *named])


def _pinned(module: str) -> re.Match[str] | None:
    pins = (HERE / module / "go.mod").read_text()
    return re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)", pins)


if __name__ == "__main__":
    wanted_release = sys.argv[1] if len(sys.argv) > 1 else RELEASE
    build(wanted_release)
    sys.stdout.write(f"{folder(wanted_release)}\n")
