"""Lists the kubeconfigs that users may choose over the web: only files in configured places.

Choosing a kubeconfig by a page or the REST API makes this process read it, sign in with its credentials, and run the
program that it refers to. So only listed files can be chosen, and nobody but this user and root may be able to write
them. sshd has the same rule for keys; folders in which anybody can leave files, including our own uploads, are excluded
besides.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.cluster.connecting.kubeconfig import LONGEST, ContextEntry, at_home
from engine.cluster.errors import SettingsError
from engine.model.message import gettext_noop

MOST = 200
"""How many kubeconfigs are offered at most."""
NEVER = tuple(Path(path) for path in ("/proc", "/dev", "/sys", "/tmp", "/var/tmp"))  # noqa: S108 - none is written to
"""Places that are never offered, whatever the settings: open files of processes, and world-writable folders."""
_ROOT = 0
_FILES = ("tokenFile", "client-certificate", "client-key")


@dataclass(frozen=True)
class OfferedFiles:
    """Folders whose files are offered, and single files."""

    paths: tuple[Path, ...]

    @classmethod
    def of(cls, paths: str) -> "OfferedFiles":
        """Return the places of a list as in $PATH; ``~`` and variables such as ``$KUBECONFIG`` are expanded."""
        named = [path for path in os.path.expandvars(paths).split(os.pathsep) if path and not path.startswith("$")]
        return cls(tuple(Path(at_home(path)).absolute() for path in named))

    def offered(self) -> tuple[str, ...]:
        """Return the paths of the kubeconfigs in these places, MOST at most."""
        kubeconfigs = dict.fromkeys(str(file) for place in self.paths for file in _files(place) if self._holds(file))
        return tuple(sorted(kubeconfigs))[:MOST]

    def check(self, path: str) -> None:
        """Raise SettingsError for a path that is not offered, without reading it."""
        if path not in self.offered():
            message = gettext_noop("%(path)s is not one of the kubeconfigs that this installation offers.")
            raise SettingsError(message, path=path)

    def check_named(self, entry: ContextEntry) -> None:
        """Raise SettingsError where a context of an offered file refers to a file or program that others may write."""
        files = [*(entry.user.get(key) for key in _FILES), _program(entry)]
        named = [*((entry.user_folder, file) for file in files), (entry.cluster_folder, _authority(entry))]
        for folder, path in named:
            if path and (folder / str(path)).exists() and not _is_protected(folder / str(path)):
                message = gettext_noop(
                    "Other users can modify %(path)s, which context %(name)s refers to. Restrict write access to it."
                )
                raise SettingsError(message, path=str(path), name=entry.context)

    def _holds(self, file: Path) -> bool:
        """Return whether a file is a kubeconfig in these places, links followed, that nobody else can write."""
        inside = any(file.resolve().is_relative_to(place.resolve()) for place in self.paths)
        return inside and _is_protected(file) and _is_kubeconfig(file)


def _files(place: Path) -> Iterator[Path]:
    try:
        yield from sorted(place.iterdir()) if place.is_dir() else (place,)
    except OSError:  # nothing is offered from a folder that can't be read
        return


def _is_kubeconfig(file: Path) -> bool:
    """Return whether a file looks like a kubeconfig: other files may lie beside them."""
    try:
        if not file.is_file() or file.stat().st_size > LONGEST:
            return False
        text = file.read_bytes()
    except OSError:
        return False
    return b"contexts" in text and b"clusters" in text


def _is_protected(path: Path) -> bool:
    """Return whether nobody but this user and root can write a file, or replace it."""
    resolved = path.resolve()
    if any(resolved.is_relative_to(never) for never in NEVER):
        return False
    try:
        return all(_fixed(checked) for checked in (resolved, resolved.parent))
    except OSError:
        return False


def _authority(entry: ContextEntry) -> object:
    return entry.cluster.get("certificate-authority")


def _fixed(path: Path) -> bool:
    if os.statvfs(path).f_flag & os.ST_RDONLY:  # as Secrets and ConfigMaps are mounted
        return True
    known = path.stat()
    return known.st_uid in {_ROOT, os.geteuid()} and not known.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _program(entry: ContextEntry) -> str:
    """Return the path of a context's program; a bare name is looked up in $PATH."""
    return entry.program if "/" in entry.program else shutil.which(entry.program) or ""
