"""The image, built by buildah: it needs no Docker engine, and no registry of images.

The base image is made with debootstrap from Debian's packages and kept; the Dockerfile is built on it as it stands.
``python -m tests.image.building`` builds it, in about ten minutes the first time.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests import postgres

CHECKOUT = Path(__file__).parents[2]
BASE = "localhost/scheduler-admin-base:bookworm"
PRODUCT, DEMO = "localhost/scheduler-admin:test", "localhost/scheduler-admin-demo:test"
ENVIRONMENT = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}
PROGRAMS = ("buildah", "crun", "debootstrap", "redis-server")
"""Each is in the Debian package of its name."""
_INCLUDED = "ca-certificates,python3,python3-venv,python3-pip"
_CERTIFICATES = Path("/etc/ssl/certs")
_PIP = Path("/etc/pip.conf")


def buildah(*arguments: str | Path) -> str:
    """Run buildah and return what it prints. Raises AssertionError with the end of its errors."""
    done = subprocess.run(["buildah", *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"buildah {' '.join(map(str, arguments))}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout.strip()


def provide_tools() -> None:
    """Install what is missing here. Raises AssertionError that names it where that is not possible."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    missing += [] if postgres.programs() else ["postgresql"]
    if not missing:
        return
    possible = os.geteuid() == 0 and shutil.which("apt-get") is not None
    assert possible, f"The suite image needs {', '.join(missing)}. Install them, or run it as root on Debian or Ubuntu."
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
        subprocess.run(["apt-get", *command], env=environment, check=True, stdout=subprocess.DEVNULL)


def mirror() -> list[str]:
    """Return the Debian mirror of this machine; nothing if it has none, because debootstrap knows one."""
    if platform.freedesktop_os_release().get("ID") != "debian":
        return []
    files = [file for file in sorted(Path("/etc/apt").rglob("*")) if file.suffix in {".list", ".sources"}]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    found = re.findall(r"^(?:URIs:|deb(?:\s+\[[^]]*\])?)\s+(\S+)", text, re.MULTILINE)
    return [address for address in found if "security" not in address][:1]


def provide_base() -> None:
    """Make the base image from Debian's packages, if this machine has not made it before."""
    if buildah("images", "--quiet", "--filter", f"reference={BASE}"):
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        command = ["debootstrap", "--variant=minbase", f"--include={_INCLUDED}", "bookworm", str(root), *mirror()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        (root / "usr/bin/python").symlink_to("python3")
        container = buildah("from", "scratch")
        buildah("copy", "--quiet", container, root, "/")
        buildah("commit", "--quiet", "--rm", container, BASE)


def build(target: str, tag: str) -> None:
    """Build a stage of the Dockerfile, with the certificates and the settings of pip of this machine."""
    given = [path for path in (_CERTIFICATES, _PIP) if path.exists()]
    volumes = [word for path in given for word in ("--volume", f"{path}:{path}:ro")]
    arguments = ["--build-arg", f"PYTHON={BASE}", "--build-arg", f"REVISION={revision()}"]
    buildah("bud", *volumes, *arguments, "--pull-never", "--target", target, "--tag", tag, CHECKOUT)


@cache
def revision() -> str:
    """Return the revision of the sources, as it is when this is first asked for."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.strip()


def megabytes(image: str) -> float:
    """Return how large an image is, with the images that it is made of."""
    size, unit = buildah("images", "--format", "{{.Size}}", image).splitlines()[0].split()
    return float(size) * {"KB": 0.001, "MB": 1, "GB": 1000}[unit]


if __name__ == "__main__":
    provide_tools()
    provide_base()
    build("product", PRODUCT)
    sys.stdout.write(f"{PRODUCT}: {megabytes(PRODUCT) - megabytes(BASE):.0f} MB above {megabytes(BASE):.0f} MB\n")
