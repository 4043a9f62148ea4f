"""Large texts of rows that are written many at once."""

from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    _Text = models.TextField[str, str]
else:
    _Text = models.TextField


class DocumentField(_Text):
    """A text column whose rows go to PostgreSQL as they are.

    Django would send many rows as one array for each column, in which psycopg puts a backslash before every quote, one
    by one: with JSON that takes ten times as long as all the rest. Not where a field has a placeholder of its own.
    """

    def get_placeholder(self, _value: Any, _compiler: Any, _connection: Any) -> str:
        """The same as ever."""
        return "%s"

    def deconstruct(self) -> Any:
        """To migrations it is any text."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs
