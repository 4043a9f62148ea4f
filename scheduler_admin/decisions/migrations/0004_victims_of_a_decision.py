from django.db import migrations


def _on_postgres(statement):
    def run(_apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statement)

    return run


class Migration(migrations.Migration):
    """A decision has two victims or so. Of rows that lie together PostgreSQL guesses dozens, and then reads thousands."""

    dependencies = [
        ("history", "0003_considered"),
    ]

    operations = [
        migrations.RunPython(
            _on_postgres("ALTER TABLE history_victim ALTER COLUMN decision_id SET (n_distinct = -0.5)"),
            _on_postgres("ALTER TABLE history_victim ALTER COLUMN decision_id RESET (n_distinct)"),
        ),
    ]
