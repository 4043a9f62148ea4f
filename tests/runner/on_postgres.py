"""`python -m tests.runner.on_postgres`: every test that uses a database, on a PostgreSQL server of its own.

In three processes beside each other, as with tests.runner.parts; the first starts installations, which have databases
of their own there. What is given is given to all, and folders or files, if there are any, to one alone: ``python -m
tests.runner.on_postgres tests/queues -k lint``.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests import postgres
from tests.runner import parts, suites

INSTALLATIONS = ("tests/e2e", "tests/enforce")
"""Folders whose tests start the product's own processes."""
EITHER_WAY = ("engine", "cluster", "simulator", "fidelity", "fuzz", "controlplane", "soak", "running")
"""Folders that a database is nothing to; and soak, which has its own, of both kinds."""
QUICK = ("synchronous_commit=off", "full_page_writes=off", "max_connections=300")
"""The server goes with its folder: nothing has to survive."""


def main(arguments: list[str]) -> int:
    """Run them; see ``tests.runner.parts.verdict``."""
    if postgres.programs() is None:
        sys.exit("There is no PostgreSQL here: its initdb is not found.")
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder), *QUICK) as address:
        os.environ |= {"DATABASE_URL": address, suites.VARIABLE: "postgres"}
        return parts.run(asked(arguments), arguments)


def asked(arguments: list[str]) -> dict[str, list[str]]:
    """Return what pytest is told for each process, by name."""
    if any(Path(argument.split("::")[0]).exists() for argument in arguments):
        return {"named": ["-o", f"cache_dir={parts.CACHE / 'postgres'}"]}
    pages = [folder for folder in parts.PARTS["pages"] if Path(folder).name not in EITHER_WAY]
    elsewhere = (*(f"tests/{name}" for name in EITHER_WAY), *pages, *INSTALLATIONS)
    rest = [f"--ignore={folder}" for folder in elsewhere]
    told = {"installations": list(INSTALLATIONS), "pages": pages, "rest": rest}
    return {name: [*those, "-o", f"cache_dir={parts.CACHE / f'postgres-{name}'}"] for name, those in told.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
