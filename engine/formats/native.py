"""The formats in which trees come and go, by name."""

from collections.abc import Callable
from enum import StrEnum

from engine.formats import kueue, yunikorn
from engine.formats.documents import failure
from engine.formats.imported import Imported
from engine.formats.notes import Note, Severity, gettext_noop
from engine.formats.written import Written
from engine.queues import QueueTree
from engine.resources import FLAVOR


class Format(StrEnum):
    YUNIKORN = "yunikorn"
    KUEUE = "kueue"


LARGEST = 512 * 1024
"""Bytes of a document: some 3,000 queues. To read so much YAML takes a web worker about ten seconds."""


def detect(text: str) -> Format | None:
    """Which format a text is written in, as far as its words tell; None: in none that is known."""
    marks = {
        Format.KUEUE: "kueue.x-k8s.io/",
        Format.YUNIKORN: "partitions",
    }
    return next((one for one, mark in marks.items() if mark in text), None)


def read(text: str, form: Format | None = None) -> Imported:
    """The tree in a text, of a format that its words tell where none is given. Raises ImportFailure."""
    form = form or detect(text)
    if form is None:
        raise failure(None, gettext_noop("This is in none of the formats that are known here."))
    if len(text.encode(errors="replace")) > LARGEST:
        raise failure(None, gettext_noop("This is longer than %(most)s KiB."), str(LARGEST // 1024), "most")
    return _READERS[form](text)


def write(form: Format, text: str, tree: QueueTree) -> Written:
    """A tree written into a document of a format, empty for a new one. Raises ImportFailure for what can't be read."""
    return _WRITERS[form](text, tree)


def _write_yunikorn(text: str, tree: QueueTree) -> Written:
    return Written(text=yunikorn.write(text or None, tree), notes=tuple(_only_ours(tree)))


def _only_ours(tree: QueueTree) -> list[Note]:
    """What stands in a queues.yaml that YuniKorn itself passes over."""
    notes = []
    for path in tree.walk():
        queue = tree[path]
        settings = [
            *(["namespaces"] if queue.namespaces else []),
            *(["evict_uncontrolled"] if queue.evict_uncontrolled else []),
            *(name for name in dict.fromkeys((*queue.guaranteed, *queue.max)) if FLAVOR in name),
        ]
        if settings:
            message = gettext_noop("YuniKorn has nothing for %(settings)s: it is written, and YuniKorn passes over it.")
            params = {"settings": ", ".join(settings)}
            notes.append(Note(severity=Severity.WARNING, path=path, line=None, message=message, params=params))
    return notes


_READERS: dict[Format, Callable[[str], Imported]] = {Format.YUNIKORN: yunikorn.read, Format.KUEUE: kueue.read}
_WRITERS: dict[Format, Callable[[str, QueueTree], Written]] = {
    Format.YUNIKORN: _write_yunikorn,
    Format.KUEUE: kueue.write,
}
