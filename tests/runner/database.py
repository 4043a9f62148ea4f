"""The tests' database: migrated once for each state of the migrations, and copied for each process of tests.

A copy takes milliseconds. So every run begins with a database that no former run has written to, without waiting for
the migrations.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scheduler_admin.environment import read_flag

BASE = Path(__file__).parents[2]
APPS = BASE / "scheduler_admin"
_IMPORT = re.compile(r"^(?:from|import) (scheduler_admin[\w.]*)(?: import ([\w, ]+))?", re.MULTILINE)
_MEMORY = Path("/dev/shm")
_PREFIX = "scheduler-admin-test-database"
_OF_ADMIN_SITE = "-with-admin-site"


def folder() -> Path:
    """Return where files of databases are kept: in memory where there is such a place."""
    return _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def name() -> str:
    """Return the name of the migrated database: another one wherever migrations would make another one.

    It is made of the sources of the migrations, of the models, and of what migrations import. Django's admin site,
    which a run may turn on, has migrations of its own.
    """
    return _of_these_sources() + (_OF_ADMIN_SITE if read_flag("ADMIN_SITE") else "")


def _of_these_sources() -> str:
    """Return the name of the migrated database where the admin site is off."""
    sources = {*APPS.glob("*/migrations/*.py"), *APPS.glob("*/models.py"), *APPS.glob("*/models/*.py")}
    for migration in APPS.glob("*/migrations/*.py"):
        for module, names in _IMPORT.findall(migration.read_text(encoding="utf-8")):
            at = BASE / module.replace(".", "/")
            sources |= {at.with_suffix(".py"), *(at / f"{one.strip()}.py" for one in names.split(","))}
    texts = [path.read_bytes() for path in sorted(sources) if path.is_file()]
    return f"{_PREFIX}-{hashlib.sha256(b''.join(texts)).hexdigest()[:12]}"


def file() -> Path:
    """Return where the migrated database is, or will be, as a file of SQLite."""
    return folder() / f"{name()}.sqlite3"


@contextmanager
def copied() -> Iterator[None]:
    """Let Django's connection lead to a copy of the migrated database, which is removed when the block ends."""
    from django.db import connection  # noqa: PLC0415 - the settings import this module

    settings, creation, suffix = connection.settings_dict, connection.creation, str(os.getpid())
    before = settings["NAME"]
    with _alone():
        _remove_unused()
        _make()
        creation.clone_test_db(suffix, verbosity=0, autoclobber=True)
    settings["NAME"] = creation.get_test_db_clone_settings(suffix)["NAME"]
    try:
        yield
    finally:
        creation.destroy_test_db(before, verbosity=0)


def copy_to(target: Path) -> None:
    """Copy the migrated database to a file, which another process is to use."""
    with _alone():
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        environment["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        subprocess.run([sys.executable, "-m", __name__], cwd=BASE, env=environment, check=True)
        shutil.copyfile(file(), target)


def _make() -> None:
    """Migrate the database that others copy; where it is there already, nothing happens. Who calls is alone."""
    from django.db import connection  # noqa: PLC0415 - as above

    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False, keepdb=True)
    connection.close()


@contextmanager
def _alone() -> Iterator[None]:
    """Keep all other processes of tests from making or removing databases meanwhile."""
    with (folder() / f"{_PREFIX}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_unused() -> None:
    """Remove the copies of processes that were killed, and what other migrations made."""
    for file in folder().glob(f"{_PREFIX}-*.sqlite3*"):
        made, _, process = file.name.partition(".")[0].partition("_")
        if not Path("/proc", process).exists() if process else made.removesuffix(_OF_ADMIN_SITE) != _of_these_sources():
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    import django

    django.setup()
    _make()
