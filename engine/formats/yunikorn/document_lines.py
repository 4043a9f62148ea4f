"""Lookup of the line of a queue's setting in a queues.yaml, for errors that are found only in the whole tree."""

from collections.abc import Mapping
from typing import Any

from engine.formats.yaml.documents import line_of
from engine.formats.yunikorn.document import partition_of, top_queues
from engine.formats.yunikorn.fields import READ_PROPERTIES, TEMPLATE, VCORE
from engine.model.notes import NoteCollector
from engine.model.quantities import CPU
from engine.model.queue_settings import BY_NAME
from engine.model.queue_tree import ROOT


class DocumentLines:
    """Line numbers, from 1, of the settings in a loaded queues.yaml that ``read`` accepts."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        top, implied = top_queues(partition_of(document, NoteCollector()))
        self._queues: dict[str, Mapping[str, Any]] = {}
        pending = [(f"{ROOT}.{queue['name']}" if implied else ROOT, queue) for queue in top]
        while pending:
            path, queue = pending.pop()
            self._queues[path] = queue
            pending += [(f"{path}.{child['name']}", child) for child in queue.get("queues") or []]

    def find(self, path: str, field: str = "") -> int | None:
        """Return the line of a setting, named as in a Note (``max/memory``), else of its queue, else None."""
        queue = self._queues.get(path)
        if queue is None:
            return None
        return self._setting(queue, *field.split("/")[:2]) or line_of(queue, "name")

    def _setting(self, queue: Mapping[str, Any], field: str, part: str = "") -> int | None:
        if field == "template":
            return line_of(queue, TEMPLATE)
        if (setting := BY_NAME.get(field)) is not None and setting.yunikorn in READ_PROPERTIES:
            return line_of(queue.get("properties"), setting.yunikorn)
        resources = queue.get("resources") or {}
        amounts = resources.get(field) or {}
        resource = part.replace("~1", "/").replace("~0", "~")
        yunikorns = VCORE if resource == CPU and VCORE in amounts else resource
        return line_of(amounts, yunikorns) or line_of(resources, field)
