"""Builds everything that a release consists of, into dist/: ``make release``.

The command line as wheel, source archive and one runnable file, the chart, the image, the documentation site, SBOMs,
checksums, and notes from CHANGELOG.md. What needs a program that this machine lacks is left out, and said.
``--tag v1.2.3`` refuses to release what is not of that version, or has changes without one.
"""

import argparse
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipapp
from collections.abc import Callable, Iterable
from pathlib import Path

from packaging.requirements import Requirement

from tests.documentation import site

BASE = Path(__file__).resolve().parents[2]
DIST = BASE / "dist"
CLIENT = BASE / "scheduler_admin_client"
ENGINES = ("buildah", "docker", "podman")
"""Programs that build an image, the first that is there."""
IMAGE_OPTIONS = "IMAGE_OPTIONS"
"""The environment variable with further options for it, such as a base image of one's own registry."""
_OLDEST = "3.9"
"""The oldest Python that the command line runs on."""
_UNWANTED = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "*.mo", "*.pyc")


class Unready(Exception):  # noqa: N818 - nothing is broken, the release is to wait
    """Why nothing is released, in a sentence."""


def version() -> str:
    """Return the version of the project."""
    found = tomllib.loads((BASE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert isinstance(found, str)
    return found


def run(*command: str | Path, cwd: Path = BASE, environment: dict[str, str] | None = None) -> None:
    """Run a program. Raises subprocess.CalledProcessError."""
    subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, check=True)


def build_client(into: Path, *, isolated: bool = True) -> None:
    """Build the wheel and the source archive from a copy, as a build leaves its own files where the sources are.

    Isolated, pip fetches the build backend; otherwise that of this environment is taken.
    """
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(CLIENT, Path(folder) / "client", ignore=_UNWANTED))
        shutil.copy(BASE / "LICENSE", copy)
        alone = () if isolated else ("--no-isolation", "--skip-dependency-check")
        command = (sys.executable, "-m", "build", *alone, "--outdir", into, copy)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            done.check_returncode()


def client(into: Path) -> None:
    """Build the command line in all its forms."""
    build_client(into)
    wheel = into / f"scheduler_admin_client-{version()}-py3-none-any.whl"
    with tempfile.TemporaryDirectory() as stage:
        zip_application(into / f"scheduler-admin-{version()}.pyz", Path(stage) / "stage", wheel, locked)


def zip_application(program: Path, stage: Path, wheel: Path, packages: Callable[[Path], None]) -> None:
    """Make one file that any Python runs, of a wheel and of the packages that a function puts beside it."""
    stage.mkdir(parents=True)
    packages(stage)
    shutil.unpack_archive(wheel, stage, "zip")
    shutil.copy(stage / "scheduler_admin_client" / "__main__.py", stage)
    for leftover in [*stage.rglob("__pycache__"), stage / "bin"]:
        shutil.rmtree(leftover, ignore_errors=True)
    zipapp.create_archive(stage, program, interpreter="/usr/bin/env python3", compressed=True)
    program.chmod(0o755)


def copied(names: Iterable[str]) -> Callable[[Path], None]:
    """Return what copies packages of this environment."""

    def copy(stage: Path) -> None:
        for name in names:
            found = importlib.util.find_spec(name)
            assert found is not None
            assert found.origin is not None
            shutil.copytree(Path(found.origin).parent, stage / name, ignore=_UNWANTED)

    return copy


def locked(stage: Path) -> None:
    """Fetch the locked packages, in the versions that the oldest Python runs."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "requirements.lock"
        lock.write_text(lock_for_all((CLIENT / "requirements.lock").read_text(encoding="utf-8")), encoding="utf-8")
        run(
            *(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--no-compile"),
            *("--only-binary=:all:", "--python-version", _OLDEST, "--target", stage, "-r", lock),
        )


def lock_for_all(lock: str) -> str:
    """Return what of a lock the oldest Python needs on any system, without markers, which pip evaluates for itself."""
    found = []
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        first, _, hashes = entry.partition(" \\\n")
        wanted = Requirement(first)
        systems = [{"python_full_version": f"{_OLDEST}.0", "sys_platform": name} for name in ("linux", "win32")]
        if wanted.marker is None or any(map(wanted.marker.evaluate, systems)):
            found.append(f"{wanted.name}{wanted.specifier} \\\n{hashes}\n")
    return "".join(found)


def notes(changelog: str, wanted: str) -> str:
    """Return the section of a version. Raises Unready."""
    found = re.search(rf"^## \[{re.escape(wanted)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise Unready(f"CHANGELOG.md has no section for {wanted}.")
    return found.group(1).strip() + "\n"


def unreleased(changelog: str) -> bool:
    """Tell whether the changelog has changes that are of no version yet."""
    found = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return bool(found and found.group(1).strip())


def check_tag(tag: str, changelog: str) -> None:
    """Compare the tag of a release with the project. Raises Unready."""
    if tag != f"v{version()}":
        raise Unready(f"The tag {tag} is not that of version {version()} in pyproject.toml.")
    if unreleased(changelog):
        raise Unready(f"CHANGELOG.md has unreleased changes. Move them to {version()}, or to a new version.")


def image(into: Path) -> Path | None:
    """Build the image as an archive that engines load. Returns None, and says so, where nothing can build one."""
    engine = next((name for name in ENGINES if shutil.which(name) and _works(name)), None)
    if engine is None:
        sys.stdout.write(f"No image: none of {', '.join(ENGINES)} works here.\n")
        return None
    tag = f"scheduler-admin:{version()}"
    archive = into / f"scheduler-admin-image-{version()}.tar"
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=BASE, capture_output=True, text=True, check=False
    ).stdout.strip()
    options = ["--build-arg", f"REVISION={head}", *shlex.split(os.environ.get(IMAGE_OPTIONS, ""))]
    try:
        if engine == "buildah":
            run("buildah", "build", "--format", "docker", *options, "--tag", tag, BASE)
            run("buildah", "push", tag, f"docker-archive:{archive}:{tag}")
        else:
            run(engine, "build", *options, "--tag", tag, BASE)
            run(engine, "save", "--output", archive, tag)
    except subprocess.CalledProcessError as error:
        sys.stdout.write(f"No image: {engine} failed with {error.returncode}.\n")
        return None
    return archive


def _works(engine: str) -> bool:
    done = subprocess.run([engine, "info"], capture_output=True, check=False)
    return done.returncode == 0


def boms(into: Path) -> None:
    """Write what the image and the command line are built of, as CycloneDX."""
    for name, project, lock in (
        ("scheduler-admin", BASE / "pyproject.toml", BASE / "requirements.lock"),
        ("scheduler-admin-client", CLIENT / "pyproject.toml", CLIENT / "requirements.lock"),
    ):
        target = into / f"{name}-{version()}.cdx.json"
        run(
            *(sys.executable, "-m", "cyclonedx_py", "requirements", "--pyproject", project, "--output-reproducible"),
            *("--mc-type", "application", "--sv", "1.6", "--of", "JSON", "-o", target, lock),
        )


def chart(into: Path) -> Path:
    """Package the chart, as ``helm push`` takes it to an OCI registry; Helm is built if it is not there yet."""
    from tests.deploy import helm  # noqa: PLC0415 - the tests' own tools are not needed for the rest

    done = subprocess.run(
        [helm.build(), "package", helm.CHART, "--destination", into], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        done.check_returncode()
    return into / f"scheduler-admin-{version()}.tgz"


def documentation(into: Path) -> None:
    """Pack the documentation site. Raises site.Broken."""
    with tempfile.TemporaryDirectory() as folder:
        built = site.build(Path(folder))
        shutil.make_archive(str(into / f"scheduler-admin-docs-{version()}"), "gztar", built)


def checksums(folder: Path) -> str:
    """Return the lines of SHA256SUMS for all files of a folder, as ``sha256sum --check`` reads them."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    return "".join(f"{_digest(path)}  {path.name}\n" for path in files)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def release(into: Path, *, tag: str = "", without: Iterable[str] = ()) -> None:
    """Build everything anew. Raises Unready, subprocess.CalledProcessError."""
    changelog = (BASE / "CHANGELOG.md").read_text(encoding="utf-8")
    if tag:
        check_tag(tag, changelog)
    elif unreleased(changelog):
        sys.stdout.write("Not for publication: CHANGELOG.md has unreleased changes, which are not in the notes.\n")
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    (into / "RELEASE_NOTES.md").write_text(notes(changelog, version()), encoding="utf-8")
    client(into)
    boms(into)
    documentation(into)
    for name, build in (("chart", chart), ("image", image)):
        if name in without:
            sys.stdout.write(f"No {name}: --without {name}.\n")
        elif build(into) is None and tag:
            raise Unready(f"A release needs its {name}. To release without it, use --without {name}.")
    (into / "SHA256SUMS").write_text(checksums(into), encoding="ascii")
    if tag:
        run(sys.executable, "-m", "tests.deploy.running_release")
        sys.stdout.write("Commit tests/deploy/releases/migrations.json: the next release works beside this one.\n")


def main(arguments: list[str]) -> int:
    """Read the command line, release, and list what was built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", default="", help="the tag that is released; it is compared with the version")
    parser.add_argument("--client", action="store_true", help="build the command line, and nothing else")
    parser.add_argument("--without", action="append", default=[], choices=["image", "chart"], help="do not build this")
    asked = parser.parse_args(arguments)
    try:
        if asked.client:
            client(DIST)
        else:
            release(DIST, tag=asked.tag, without=asked.without)
    except (Unready, site.Broken) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{error.cmd[0]} failed with {error.returncode}.\n")
        return 1
    for path in sorted(DIST.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:>12,}  {path.relative_to(BASE)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
