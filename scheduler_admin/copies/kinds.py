"""Where clusters keep trees themselves: how each of these is read, and written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.cluster.config_map import read_config_map, write_config_map
from engine.cluster.connection import Connection
from engine.cluster.copies import Copy, Rewrite
from engine.cluster.kueue_copy import read_kueue, write_kueue
from engine.formats.native import Format

Read = Callable[[Connection, Iterable[str]], Copy | None]
Write = Callable[[Connection, Copy, Rewrite], Copy]


@dataclass(frozen=True)
class Kind:
    """``read`` takes the namespaces to look in, ``write`` what is there now."""

    read: Read
    write: Write


KINDS = {
    Format.YUNIKORN: Kind(read_config_map, write_config_map),
    Format.KUEUE: Kind(
        lambda connection, _namespaces: read_kueue(connection),
        lambda connection, _there, asked: write_kueue(connection, asked),
    ),
}


def kind_of(form: str) -> Kind:
    """What keeps trees of a format."""
    return KINDS[Format(form)]


def form_of(source_format: str) -> Format:
    """Where a cluster keeps trees that came from such a document; in YuniKorn's ConfigMap unless it says otherwise."""
    return Format.KUEUE if source_format == Format.KUEUE else Format.YUNIKORN
