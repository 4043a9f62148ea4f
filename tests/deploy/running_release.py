"""The migrations of the last release, whose pods go on running while an upgrade migrates the database.

``make release TAG=...`` writes releases/migrations.json anew, once for each release: ``python -m
tests.deploy.running_release`` does only that, to another file if one is named.
"""

import json
import os
import sys
from pathlib import Path

from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection, models, transaction
from django.db.migrations.loader import MigrationLoader

from scheduler_admin.core.database.immutable_tables import MESSAGE
from tests.migrating import OURS, a_row

FILE = Path(__file__).parent / "releases" / "migrations.json"
Node = tuple[str, str]


def last_migrations() -> list[Node]:
    """Return the last migration of each app in the last release."""
    return [(app, name) for app, name in json.loads(FILE.read_text(encoding="utf-8")).items()]


def write(file: Path) -> None:
    """Write the last migration of each app as it is now."""
    leaves = sorted(MigrationLoader(None).graph.leaf_nodes())
    file.write_text(json.dumps(dict(leaves), indent=2) + "\n", encoding="utf-8")


def broken(nodes: list[Node]) -> dict[str, str]:
    """Return what fails when the models of these migrations read and write the tables as they are now.

    Model -> the database's error. Columns that are gone, have another name, or must have a value that the former code
    does not know are found; values that now mean something else are not.
    """
    ours = {config.label for config in apps.get_app_configs() if config.name.startswith(OURS)}
    former = MigrationLoader(connection).project_state(nodes).apps
    found = {}
    for model in former.get_models(include_auto_created=True):
        if model._meta.app_label in ours:
            try:
                with transaction.atomic():
                    _use(model)
            except DatabaseError as error:
                found[model._meta.label] = str(error).splitlines()[0]
    return found


def _use(model: type[models.Model]) -> None:
    """Insert a row, read it, and write all its columns."""
    row = a_row(model)
    columns = [field.attname for field in model._meta.concrete_fields if not field.primary_key]
    values = model._base_manager.filter(pk=row.pk).values(*columns).get()
    try:
        with transaction.atomic():
            model._base_manager.filter(pk=row.pk).update(**values)
    except IntegrityError as error:
        if MESSAGE not in str(error):  # nor could the last release
            raise


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    write(Path(sys.argv[1]) if sys.argv[1:] else FILE)
