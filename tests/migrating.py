"""`python -m tests.migrating`: the database that DATABASE_URL names goes through every migration, with rows in it.

A process of its own, as migrations change the tables under everything else. Ends with 1, and says why, where one fails.
"""

from datetime import timedelta
from typing import Any

import django
from django.apps import apps
from django.db import connection, models

OURS = "scheduler_admin"


def main() -> None:
    """Forward; app after app back to nothing, while those that it rests on keep their rows; and forward again."""
    django.setup()
    migrate()
    fill()
    guarded()
    for name in reversed(migrated()):
        assert tables_of(name), f"of {name} nothing was left"
        migrate(name, "zero")
        assert not tables_of(name), f"of {name} is left: {tables_of(name)}"
    migrate()
    fill()
    guarded()
    print(*migrated())  # noqa: T201 - what this program is for


def migrate(*where: str) -> None:
    """As ``manage.py migrate``."""
    from django.core.management import call_command  # noqa: PLC0415 - once Django is set up

    call_command("migrate", *where, verbosity=0, skip_checks=True)


def migrated() -> list[str]:
    """The apps of ours that have tables, each after those that it rests on."""
    return [one.label for one in apps.get_app_configs() if one.name.startswith(OURS) and list(one.get_models())]


def tables_of(label: str) -> set[str]:
    """Those of an app that the database has."""
    return {name for name in connection.introspection.table_names() if name.startswith(f"{label}_")}


def fill() -> None:
    """At least one row in every table of ours."""
    for name in migrated():
        for model in apps.get_app_config(name).get_models(include_auto_created=True):
            a_row(model)
    apps.get_model("queues", "Hierarchy").objects.update(current=a_row(apps.get_model("queues", "Revision")))


def a_row(model: type[models.Model], of: tuple[type[models.Model], ...] = ()) -> models.Model:
    """One that is there, or a new one of values that mean nothing; ``of``: the models whose rows are to point at it."""
    found = model._base_manager.first()
    if found is None:
        fields = [field for field in model._meta.concrete_fields if not field.primary_key]
        values = {field.name: _value(field, (*of, model)) for field in fields}
        found = model._base_manager.first() or model._base_manager.create(**values)  # a value may point back at one
    return found


def _value(field: "models.Field[Any, Any]", of: tuple[type[models.Model], ...]) -> Any:
    from scheduler_admin.decisions.models.documents import DocumentField  # noqa: PLC0415

    if isinstance(field, models.ForeignKey):
        return None if field.null and field.related_model in of else a_row(field.related_model, of)
    if field.has_default() or field.null:
        return field.get_default()
    match field:
        case DocumentField():
            return "x"
        case models.BinaryField():
            return b"x"
        case models.DateTimeField():
            return django.utils.timezone.now()
        case models.DateField():
            return django.utils.timezone.now().date()
        case models.IntegerField() | models.FloatField() | models.BooleanField():
            return 1
        case models.JSONField():
            return {}
        case models.TimeField():
            return "00:00"
        case models.DurationField():
            return timedelta()
        case _:
            return "x"


def guarded() -> None:
    """What was published can't be changed, however the tables came about."""
    from django.db import IntegrityError  # noqa: PLC0415

    from scheduler_admin.queues.models import Revision  # noqa: PLC0415

    revision = a_row(Revision)
    try:
        Revision.objects.filter(pk=revision.pk).update(reason="another")
    except IntegrityError:
        return
    raise AssertionError("a revision was changed")


if __name__ == "__main__":
    main()
