"""Where clusters keep trees themselves: how each of these is read, and written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.cluster.connecting.connection import Connection
from engine.cluster.sync.config_map import read_config_map, write_config_map
from engine.cluster.sync.copies import ClusterCopy, CopyEffect, Rewrite, SchedulerAnswer
from engine.cluster.sync.effects import kueue_effect, yunikorn_effect, yunikorn_refusal
from engine.cluster.sync.object_copies import read_objects, write_objects
from engine.formats.arbitrator import consumers
from engine.formats.kueue.object_kinds import KUEUE
from engine.formats.registry import Format
from engine.formats.tree_objects import Family

Read = Callable[[Connection, Iterable[str]], ClusterCopy | None]
Write = Callable[[Connection, ClusterCopy, Rewrite], ClusterCopy]
FindEffect = Callable[[Connection, str, str], SchedulerAnswer]
FindRefusal = Callable[[Connection, str, str], str]


@dataclass(frozen=True)
class Kind:
    """How a cluster's copy is dealt with."""

    read: Read
    """Takes the namespaces to look in."""
    write: Write
    """Takes what is there now."""
    effect: FindEffect
    """Tells whether the scheduler uses a text; takes the service that it is asked at, empty where it has none."""
    refusal: FindRefusal
    """Tells why the scheduler would not take a text, likewise; empty where it would. Raises ClusterError."""


def _of(family: Family, effect: Callable[[Connection], SchedulerAnswer]) -> Kind:
    return Kind(
        lambda connection, _namespaces: read_objects(family, connection),
        lambda connection, _there, asked: write_objects(family, connection, asked),
        lambda connection, _service, _text: effect(connection),
        lambda _connection, _service, _text: "",  # writing tries all of it, server-side, before the first object
    )


def _yunikorn_effect(connection: Connection, service: str, text: str) -> SchedulerAnswer:
    return yunikorn_effect(connection, service, text) if service else SchedulerAnswer(effect=CopyEffect.UNKNOWN)


def _yunikorn_refusal(connection: Connection, service: str, text: str) -> str:
    return yunikorn_refusal(connection, service, text) if service else ""


KINDS = {
    Format.YUNIKORN: Kind(read_config_map, write_config_map, _yunikorn_effect, _yunikorn_refusal),
    Format.KUEUE: _of(KUEUE, kueue_effect),
    Format.CONSUMERS: _of(consumers.FAMILY, lambda _connection: SchedulerAnswer(effect=CopyEffect.UNKNOWN)),
}


def kind_of(form: str) -> Kind:
    """What keeps trees of a format."""
    return KINDS[Format(form)]


def form_of(source_format: str) -> Format:
    """Where a cluster keeps trees that came from such a document; in YuniKorn's ConfigMap unless it says otherwise."""
    return Format(source_format) if source_format in KINDS else Format.YUNIKORN
