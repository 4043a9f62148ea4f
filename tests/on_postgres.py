"""`python -m tests.on_postgres`: every test that uses the database, on a PostgreSQL server of its own.

In two processes beside each other, as with tests.parts. What is given is given to both, and folders or files, if there
are any, to one alone: ``python -m tests.on_postgres tests/queues -k lint``.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests import parts, postgres

FILES_OF_THEIR_OWN = ("e2e", "enforce", "soak")
"""Folders whose tests start installations, each with its file of SQLite."""
NO_DATABASE = ("engine", "cluster", "simulator", "fidelity", "fuzz", "controlplane", *FILES_OF_THEIR_OWN)
"""Folders that a database is nothing to."""
QUICK = ("synchronous_commit=off", "full_page_writes=off")
"""The server goes with its folder: nothing has to survive."""


def main(arguments: list[str]) -> int:
    """Run them; see ``tests.parts.verdict``."""
    if postgres.programs() is None:
        sys.exit("There is no PostgreSQL here: its initdb is not found.")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder), *QUICK) as address:
        os.environ["DATABASE_URL"] = address
        return parts.run(asked(arguments), arguments)


def asked(arguments: list[str]) -> list[list[str]]:
    """What pytest is told for each process."""
    if any(Path(argument.split("::")[0]).exists() for argument in arguments):
        return [["-o", "cache_dir=.pytest_cache/postgres"]]
    site = [folder for folder in parts.SITE if Path(folder).name not in NO_DATABASE]
    rest = [f"--ignore=tests/{name}" for name in NO_DATABASE] + [f"--ignore={folder}" for folder in site]
    told = zip((site, rest), ("site", "rest"), strict=True)
    return [[*those, "-o", f"cache_dir=.pytest_cache/postgres-{name}"] for those, name in told]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
