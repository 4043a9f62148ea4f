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
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return places[-1] if places else None


@contextmanager
def server(folder: Path, *settings: str) -> Iterator[str]:
    """The address of an empty server, for as long as it is wanted."""
    where, as_root = programs(), os.geteuid() == 0
    assert where is not None
    if as_root:
        shutil.chown(folder, NOBODY)

    def run(program: str, *arguments: str) -> None:
        command = [str(where / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, user=NOBODY if as_root else None, cwd=folder, stdout=subprocess.DEVNULL)

    run("initdb", "-U", "postgres", "--auth", "trust", "--no-sync")
    options = ["listen_addresses=''", "fsync=off", *settings]
    given = " ".join(f"-c {option}" for option in options)
    run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"{given} -k {folder}")
    try:
        yield f"postgres://postgres@{quote(str(folder), safe='')}/postgres"
    finally:
        run("pg_ctl", "stop", "-w", "-m", "immediate")
