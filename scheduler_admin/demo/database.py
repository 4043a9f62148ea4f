"""The empty database of a demo, made from the models at once. Running each migration in turn takes twenty seconds."""

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from scheduler_admin.core.database import immutable_tables


def create() -> None:
    """Create all tables in an empty database and record every migration as applied.

    The result is the same as after ``migrate``, which tests/demo/test_database.py checks.
    """
    with connection.schema_editor() as editor:
        for model in apps.get_models():
            if model._meta.can_migrate(connection):  # noqa: SLF001 - Django documents it as an API
                editor.create_model(model)
    immutable_tables.protect(connection)
    recorder = MigrationRecorder(connection)
    recorder.ensure_schema()
    for app, name in MigrationLoader(None).disk_migrations:
        recorder.record_applied(app, name)
    emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)
