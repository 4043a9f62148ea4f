"""Large texts of rows, kept small."""

import zlib
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    _Binary = models.BinaryField[str, str]
else:
    _Binary = models.BinaryField

_LEVEL, _WINDOW_BITS, _MEMORY = 6, 13, 6
"""Of zlib's usual window no document of a few kB has any use, and to clear it takes six times as long as the rest."""


class DocumentField(_Binary):
    """A text, compressed: canonical JSON to a quarter. Rows of it are read and written to PostgreSQL one by one.

    Never compare it within the database: another version of zlib may write the same text otherwise.
    """

    def get_default(self) -> Any:
        """A text as well."""
        return super().get_default() or ""

    def from_db_value(self, value: Any, _expression: Any, _connection: Any) -> str | None:
        """The text."""
        return None if value is None else zlib.decompress(value).decode()

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """The text compressed."""
        return super().get_db_prep_value(_compressed(value) if isinstance(value, str) else value, connection, prepared)

    def to_python(self, value: Any) -> Any:
        """Fixtures hold the text itself."""
        return value

    def value_to_string(self, obj: models.Model) -> str:
        """As above."""
        text: str = self.value_from_object(obj)
        return text

    def deconstruct(self) -> Any:
        """To migrations it is any binary."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.BinaryField", args, kwargs


def _compressed(text: str) -> bytes:
    writer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY)
    return writer.compress(text.encode()) + writer.flush()
