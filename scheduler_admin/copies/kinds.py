"""Where clusters keep trees themselves: how each of these is read, and written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.cluster.config_map import read_config_map, write_config_map
from engine.cluster.connection import Connection
from engine.cluster.copies import Copy, Rewrite
from engine.cluster.object_copies import read_objects, write_objects
from engine.formats import consumers
from engine.formats.families import Family
from engine.formats.kueue.family import KUEUE
from engine.formats.native import Format

Read = Callable[[Connection, Iterable[str]], Copy | None]
Write = Callable[[Connection, Copy, Rewrite], Copy]


@dataclass(frozen=True)
class Kind:
    """``read`` takes the namespaces to look in, ``write`` what is there now."""

    read: Read
    write: Write


def _of(family: Family) -> Kind:
    return Kind(
        lambda connection, _namespaces: read_objects(family, connection),
        lambda connection, _there, asked: write_objects(family, connection, asked),
    )


KINDS = {
    Format.YUNIKORN: Kind(read_config_map, write_config_map),
    Format.KUEUE: _of(KUEUE),
    Format.CONSUMERS: _of(consumers.FAMILY),
}


def kind_of(form: str) -> Kind:
    """What keeps trees of a format."""
    return KINDS[Format(form)]


def form_of(source_format: str) -> Format:
    """Where a cluster keeps trees that came from such a document; in YuniKorn's ConfigMap unless it says otherwise."""
    return Format(source_format) if source_format in KINDS else Format.YUNIKORN
