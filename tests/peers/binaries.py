"""The real YuniKorn, Kueue and Volcano as binaries, built once from checkouts of their sources, and kept.

PEERS_SRC names the folder with the checkouts. ``python -m tests.peers.binaries`` builds what is missing: some minutes
where the control plane was built before, as they are built with its versions of the libraries and share its cache.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane import binaries as controlplane

VARIABLE = "PEERS_SRC"
VALIDATOR, YUNIKORN, KUEUE = "yunikorn-validator", "yunikorn-scheduler", "kueue-manager"
VOLCANO, VOLCANO_CONTROLLERS = "volcano-scheduler", "volcano-controllers"
PROGRAMS = (VALIDATOR, YUNIKORN, KUEUE, VOLCANO, VOLCANO_CONTROLLERS)
HERE = Path(__file__).parent
_KUBE = controlplane.HERE / "kube"
_FORM = "{{with .Module}}{{.Path}} {{if .Replace}}{{.Replace.Version}}{{else}}{{.Version}}{{end}}{{end}}"
_APACHE = "github.com/apache/"


@dataclass(frozen=True)
class Source:
    """A repository and the commit that is built."""

    address: str
    commit: str


SOURCES: Mapping[str, Source] = {
    "yunikorn-scheduler-interface": Source("https://github.com/apache/yunikorn-scheduler-interface", "2858f4d"),
    "yunikorn-core": Source("https://github.com/apache/yunikorn-core", "be3bb487"),
    "yunikorn-k8shim": Source("https://github.com/apache/yunikorn-k8shim", "8068e912"),
    "kueue": Source("https://github.com/kubernetes-sigs/kueue", "v0.19.2"),
    "volcano": Source("https://github.com/volcano-sh/volcano", "ed72c7c81"),
}
"""By the name of the checkout; what is built here works together, see docs/beside-others.md."""


class MissingSourceError(Exception):
    """A checkout that is needed is not there. ``str()`` says which, and how to get it."""


def folder() -> Path:
    """Where the binaries are, or will be: another folder for every other set of commits."""
    pins = "".join(f"{name}@{one.commit}" for name, one in SOURCES.items())
    named = hashlib.sha256(f"{pins}{(_KUBE / 'go.mod').read_text()}".encode()).hexdigest()[:12]
    return controlplane.cache() / f"peers-{named}"


def missing() -> list[str]:
    """The programs that are not there yet."""
    return [program for program in PROGRAMS if not (folder() / program).is_file()]


def build() -> None:
    """Build what is missing, and the control plane. Raises MissingSourceError, subprocess.CalledProcessError."""
    controlplane.build()
    if not missing():
        return
    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        place = Path(name)
        for source in SOURCES:
            _export(source, place / source)
        _build_yunikorn(place)
        _pin(place / "kueue", "./cmd/kueue")
        version = f"-X sigs.k8s.io/kueue/pkg/version.GitVersion={SOURCES['kueue'].commit}"
        _compile(place / "kueue", "./cmd/kueue", KUEUE, version)
        _pin(place / "volcano", "./cmd/scheduler")
        _compile(place / "volcano", "./cmd/scheduler", VOLCANO)
        _compile(place / "volcano", "./cmd/controller-manager", VOLCANO_CONTROLLERS)


def source(name: str) -> Path:
    """Return a checkout, with the commit that is built. Raises MissingSourceError."""
    wanted, root = SOURCES[name], os.environ.get(VARIABLE, "")
    checkout = Path(root) / name
    told = ["git", "-C", str(checkout), "cat-file", "-e", f"{wanted.commit}^{{commit}}"]
    if not root or subprocess.run(told, capture_output=True, check=False).returncode:
        raise MissingSourceError(
            f"{VARIABLE} has to name a folder with a checkout {name} that has {wanted.commit}: "
            f"git clone {wanted.address} {checkout if root else name}"
        )
    return checkout


def _export(name: str, target: Path) -> None:
    """Write the sources of the commit, so that nobody's checkout is changed."""
    target.mkdir()
    packed = subprocess.run(
        ["git", "-C", str(source(name)), "archive", SOURCES[name].commit], capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(target)], input=packed.stdout, check=True)


def _build_yunikorn(place: Path) -> None:
    core, shim = place / "yunikorn-core", place / "yunikorn-k8shim"
    validate = core / "cmd" / "validate"
    validate.mkdir(parents=True, exist_ok=True)
    (validate / "main.go").write_bytes((HERE / "yunikorn" / "validate" / "main.go").read_bytes())
    interface = f"-replace={_APACHE}yunikorn-scheduler-interface=../yunikorn-scheduler-interface"
    _go(core, "mod", "edit", interface)
    _compile(core, "./cmd/validate", VALIDATOR)
    _go(shim, "mod", "edit", interface, f"-replace={_APACHE}yunikorn-core=../yunikorn-core")
    _, minor, patch = _versions(_KUBE, *_kubes())["k8s.io/kubernetes"].split(".")
    text = (shim / "go.mod").read_text()
    (shim / "go.mod").write_text(re.sub(rf"(k8s\.io/\S+ v[01]\.{minor}\.)\d+", rf"\g<1>{patch}", text))
    _pin(shim, "./pkg/cmd/shim")
    _compile(shim, "./pkg/cmd/shim", YUNIKORN)


def _kubes() -> list[str]:
    return [f"k8s.io/kubernetes/cmd/{program}" for program in controlplane.KUBERNETES]


def _pin(module: Path, package: str) -> None:
    """Replace whatever the control plane has in another version by its version: its build cache serves this one too."""
    there, here = _versions(_KUBE, *_kubes()), _versions(module, package)
    other = {name: version for name, version in there.items() if version and here.get(name, version) != version}
    other |= {name: there[name] for name in here if name.startswith("k8s.io/") and there.get(name)}
    _go(module, "mod", "edit", *(f"-replace={name}={name}@{version}" for name, version in other.items()))


def _versions(module: Path, *packages: str) -> dict[str, str]:
    """Module -> version, of everything that these packages are made of; empty for what is beside it."""
    listed = _go(module, "list", "-deps", "-f", _FORM, *packages)
    pairs = (line.split() for line in listed.splitlines() if line.strip())
    return {name: more[0] if more else "" for name, *more in pairs}


def _compile(module: Path, package: str, program: str, flags: str = "") -> None:
    sys.stderr.write(f"Building {program} …\n")
    wanted = folder() / program
    made = wanted.with_name(f".{program}")
    _go(module, "build", "-p", "2", "-ldflags", f"-s -w {flags}".rstrip(), "-o", str(made), package)
    made.rename(wanted)  # whole or not at all


def _go(module: Path, *arguments: str) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod -buildvcs=false"}
    done = subprocess.run(
        ["go", *arguments], cwd=module, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    try:
        build()
    except MissingSourceError as error:
        sys.exit(str(error))
    sys.stdout.write(f"{folder()}\n")
