"""Kubeconfigs that may be chosen over the web: files in places that the installation names, and no others.

Whoever chooses one by a page or the REST API makes our process read it, sign in with what it names, and run the program
that it names. So it is chosen from what lies there, and nobody but we and root may have written it. The rule is that of
sshd for keys; to it come folders in which anybody leaves files, uploads of our own among them.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.cluster.connecting.kubeconfig import LONGEST, ContextEntry, at_home
from engine.cluster.errors import SettingsError
from engine.model.notes import gettext_noop

MOST = 200
"""So many are offered."""
NEVER = tuple(Path(path) for path in ("/proc", "/dev", "/sys", "/tmp", "/var/tmp"))  # noqa: S108 - none is written there
"""Whatever the installation names: open files of processes, and what anybody leaves."""
_ROOT = 0
_FILES = ("tokenFile", "client-certificate", "client-key")


@dataclass(frozen=True)
class OfferedFiles:
    """Folders, whose files are offered, and single files."""

    paths: tuple[Path, ...]

    @classmethod
    def of(cls, paths: str) -> "OfferedFiles":
        """Several, separated as in $PATH; ``~`` is our home, and variables such as ``$KUBECONFIG`` may name some."""
        named = [path for path in os.path.expandvars(paths).split(os.pathsep) if path and not path.startswith("$")]
        return cls(tuple(Path(at_home(path)).absolute() for path in named))

    def offered(self) -> tuple[str, ...]:
        """Return the paths of the kubeconfigs that lie there, MOST at the most."""
        found = dict.fromkeys(str(file) for place in self.paths for file in _files(place) if self._holds(file))
        return tuple(sorted(found))[:MOST]

    def check(self, path: str) -> None:
        """Raise SettingsError for what is not offered, without a look at it."""
        if path not in self.offered():
            message = gettext_noop("%(path)s is none of the kubeconfigs that this installation offers.")
            raise SettingsError(message, path=path)

    def check_named(self, entry: ContextEntry) -> None:
        """Raise SettingsError where a context of such a file names a file, or a program, that others may write."""
        files = [*(entry.user.get(key) for key in _FILES), _program(entry)]
        named = [*((entry.user_folder, file) for file in files), (entry.cluster_folder, _authority(entry))]
        for folder, path in named:
            if path and (folder / str(path)).exists() and not _ours_alone(folder / str(path)):
                message = gettext_noop("%(path)s, which the context %(name)s names, lies where others may write.")
                raise SettingsError(message, path=str(path), name=entry.context)

    def _holds(self, file: Path) -> bool:
        """Whether a file is a kubeconfig, still lies there when every link is followed, and is ours alone."""
        inside = any(file.resolve().is_relative_to(place.resolve()) for place in self.paths)
        return inside and _ours_alone(file) and _is_kubeconfig(file)


def _files(place: Path) -> Iterator[Path]:
    try:
        yield from sorted(place.iterdir()) if place.is_dir() else (place,)
    except OSError:  # nothing of what we may not look into is offered
        return


def _is_kubeconfig(file: Path) -> bool:
    """Whether it may be one, at a glance: others lie beside them."""
    try:
        if not file.is_file() or file.stat().st_size > LONGEST:
            return False
        text = file.read_bytes()
    except OSError:
        return False
    return b"contexts" in text and b"clusters" in text


def _ours_alone(path: Path) -> bool:
    """Whether nobody but us and root can write a file, or put another in its place."""
    whole = path.resolve()
    if any(whole.is_relative_to(never) for never in NEVER):
        return False
    try:
        return all(_fixed(one) for one in (whole, whole.parent))
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
    """Where it lies: a bare name is looked up."""
    return entry.program if "/" in entry.program else shutil.which(entry.program) or ""
