"""A PostgreSQL server of one's own, on a socket in its own folder alone."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

NOBODY = "postgres"
"""The server refuses to run as root."""


def programs() -> Path | None:
    """Where ``initdb`` and the others are; None where there is no PostgreSQL."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return places[-1] if places else None


@contextmanager
def server(folder: Path, *settings: str) -> Iterator[str]:
    """The address of an empty server, for as long as it is wanted."""
    if os.geteuid() == 0:
        shutil.chown(folder, NOBODY)
    _run(folder, "initdb", "-U", "postgres", "--auth", "trust", "--no-sync")
    start(folder, *settings)
    try:
        yield f"postgres://postgres@{quote(str(folder), safe='')}/postgres"
    finally:
        stop(folder)


@contextmanager
def replica(folder: Path, of: Path) -> Iterator[str]:
    """The address of a server that replicates the one in the folder ``of`` by streaming, as long as it is wanted."""
    if os.geteuid() == 0:
        shutil.chown(folder, NOBODY)
    arguments = [
        "--host",
        str(of),
        "--username",
        "postgres",
        "--write-recovery-conf",
        "--checkpoint",
        "fast",
        "--no-sync",
    ]
    _run(folder, "pg_basebackup", *arguments)
    start(folder)
    try:
        yield f"postgres://postgres@{quote(str(folder), safe='')}/postgres"
    finally:
        stop(folder)


def start(folder: Path, *settings: str) -> None:
    """Start the server that lives there, which has ended."""
    options = ["listen_addresses=''", "fsync=off", *settings]
    given = " ".join(f"-c {option}" for option in options)
    _run(folder, "pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"{given} -k {folder}")


def stop(folder: Path) -> None:
    """End the server that lives there, as a machine that fails."""
    _run(folder, "pg_ctl", "stop", "-w", "-m", "immediate")


def _run(folder: Path, program: str, *arguments: str) -> None:
    where = programs()
    assert where is not None
    command = [str(where / program), "-D", str(folder / "data"), *arguments]
    user = NOBODY if os.geteuid() == 0 else None
    subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)
