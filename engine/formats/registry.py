"""The document formats that queue trees are read from and written to, by name."""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from threading import RLock
from typing import Any

import msgspec

from engine.formats import kai, kueue, yunikorn
from engine.formats.arbitrator import consumers
from engine.formats.import_result import Imported, QueueSource
from engine.formats.tree_json import tree_file
from engine.formats.tree_json.percentages import PercentageBase
from engine.formats.volcano import queues as volcano
from engine.formats.written_document import Written
from engine.formats.yaml.config_map import find_embedded, relocate_failure, replace_embedded
from engine.formats.yaml.documents import expand_aliases, failure, may_have_aliases
from engine.formats.yaml.libyaml import LONGEST_ODD
from engine.model.message import Message, gettext_noop
from engine.model.notes import ImportFailure, Note, Severity
from engine.model.quantities import FLAVOR
from engine.model.queue_settings import OUR_PREFIX, SETTINGS
from engine.model.queue_tree import QueueTree
from engine.policies import cohort, deserved, fence


class Format(StrEnum):
    YUNIKORN = "yunikorn"
    KUEUE = "kueue"
    CONSUMERS = "consumers"
    VOLCANO = "volcano"
    KAI = "kai"
    SCHEDULER_ADMIN = "scheduler-admin"


SYSTEMS: Mapping[str, str] = {
    Format.YUNIKORN: "YuniKorn",
    Format.KUEUE: "Kueue",
    Format.VOLCANO: "Volcano",
    Format.CONSUMERS: "kube-arbitrator",
}
"""Format -> the display name of the system that keeps trees of this format in a cluster."""
_POLICIES: Mapping[Format, str] = {
    Format.YUNIKORN: fence.POLICY,
    Format.KUEUE: cohort.POLICY,
    Format.CONSUMERS: deserved.POLICY,
    Format.VOLCANO: deserved.POLICY,
    Format.KAI: deserved.POLICY,
    Format.SCHEDULER_ADMIN: fence.POLICY,
}


def policy_of_format(form: str) -> str:
    """Return the policy by which the system decides that a format belongs to; our own for no document at all.

    Raises ValueError for an unknown format.
    """
    return _POLICIES[Format(form or Format.SCHEDULER_ADMIN)]


LARGEST = 16 * 2**20
"""Largest size of a document in bytes. 20,000 queues with two resources take 3 to 12 million, the most for Kueue."""

_LONG = 2**20
"""Longest text in characters that is read beside others."""
_LONG_TEXTS = RLock()

_MARKS = {
    Format.KUEUE: re.compile(r"kueue\.x-k8s\.io/v"),
    Format.CONSUMERS: re.compile(r"arbitrator\.incubator\.k8s\.io/"),
    Format.VOLCANO: re.compile(r"scheduling\.volcano\.sh/v"),
    Format.KAI: re.compile(r"scheduling\.run\.ai/v"),
    Format.YUNIKORN: re.compile(r"""(^|[\s{,"'])partitions["']?\s*:"""),
    Format.SCHEDULER_ADMIN: re.compile(r"""(^|[\s{,"'])queues["']?\s*:"""),
}
"""Format -> a pattern that identifies its documents; the first pattern that matches counts."""


def detect(text: str) -> Format | None:
    """Return the format of a text, judged by its keywords; None if no known format matches.

    A queues.yaml inside another document counts as YuniKorn's. Raise ImportFailure for a document with several of them.
    """
    return Format.YUNIKORN if find_embedded(text) else _detect(text)


def _detect(text: str) -> Format | None:
    return next((form for form, mark in _MARKS.items() if mark.search(text)), None)


def read(text: str, form: Format | None = None, capacity: PercentageBase = PercentageBase()) -> Imported:  # noqa: B008 - frozen
    """Return the tree in a text; the format is detected if none is given. Raise ImportFailure.

    ``capacity`` is the base of percentages of the cluster, which only the product's own format supports.
    """
    with _turn(text):
        return _read(text, form, capacity)


def _read(text: str, form: Format | None, capacity: PercentageBase) -> Imported:
    if len(text.encode(errors="replace")) > LARGEST:
        raise failure(None, gettext_noop("The document is longer than %(most)s MiB."), str(LARGEST // 2**20), "most")
    form = form or detect(text)
    if form is None:
        raise failure(None, gettext_noop("The format of this document is not recognized."))
    match form:
        case Format.YUNIKORN:
            return _read_yunikorn(text)
        case Format.KUEUE:
            return kueue.read(text)
        case Format.CONSUMERS:
            return consumers.read(text)
        case Format.VOLCANO:
            return volcano.read(text)
        case Format.KAI:
            return kai.read(text)
        case Format.SCHEDULER_ADMIN:
            return tree_file.read(text, capacity)


def _read_yunikorn(text: str) -> yunikorn.YuniKornDocument:
    """Read a queues.yaml, either by itself or inside another document."""
    wrapped = find_embedded(text)
    if wrapped is None:
        return yunikorn.read(text)
    try:
        imported = yunikorn.read(wrapped.text)
    except ImportFailure as failure:
        raise relocate_failure(wrapped, failure) from failure
    above = wrapped.above
    sources = {
        path: QueueSource(source.title, source.line + above if source.line is not None and above is not None else None)
        for path, source in imported.sources.items()
    }
    return msgspec.structs.replace(imported, notes=tuple(map(wrapped.outside, imported.notes)), sources=sources)


def write(form: Format, text: str, tree: QueueTree, terms: Mapping[str, Any] | None = None) -> Written:
    """Write a tree into a document of a format; nothing else in the document is changed.

    An empty text means a new document. ``terms`` (policy, dialect, parameters) are written only in the product's
    own format. Raise ImportFailure for a document that can't be read.
    """
    with _turn(text):
        if len(text) > LONGEST_ODD or not may_have_aliases(text):
            return _written(form, text, tree, terms)
        apart = expand_aliases(text)  # a value shared by aliases can't be changed in one place alone
        written = _written(form, apart, tree, terms)
        return msgspec.structs.replace(written, text=text) if written.text == apart else written


def _turn(text: str) -> AbstractContextManager[Any]:
    """Return what to hold while a text is read or written: long ones wait for each other, as they need much memory."""
    return _LONG_TEXTS if len(text) > _LONG else nullcontext()


def _written(form: Format, text: str, tree: QueueTree, terms: Mapping[str, Any] | None) -> Written:
    match form:
        case Format.YUNIKORN:
            return _write_yunikorn(text, tree)
        case Format.KUEUE:
            return kueue.write(text, tree)
        case Format.CONSUMERS:
            return consumers.write(text, tree)
        case Format.VOLCANO:
            return volcano.write(text, tree)
        case Format.KAI:
            return kai.write(text, tree)
        case Format.SCHEDULER_ADMIN:
            return tree_file.write(text, tree, terms)


def _write_yunikorn(text: str, tree: QueueTree) -> Written:
    wrapped = find_embedded(text) if text else None
    inner = yunikorn.write(wrapped.text if wrapped else text or None, tree)
    written = replace_embedded(text, inner) if wrapped and inner != wrapped.text else text if wrapped else inner
    return Written(text=written, notes=tuple(_ignored_setting_notes(tree)))


def _ignored_setting_notes(tree: QueueTree) -> list[Note]:
    """Return a note for each queue with settings that are written to a queues.yaml but ignored by YuniKorn."""
    notes = []
    ours = [setting for setting in SETTINGS if setting.yunikorn.startswith(OUR_PREFIX)]
    for path in tree.walk():
        queue = tree[path]
        settings = [
            *(setting.name for setting in ours if setting.is_set(queue)),
            *(name for name in dict.fromkeys((*queue.guaranteed, *queue.max)) if FLAVOR in name),
        ]
        if settings:
            message = gettext_noop("YuniKorn does not support %(settings)s. It is written, but YuniKorn ignores it.")
            params = {"settings": ", ".join(settings)}
            notes.append(Note(severity=Severity.WARNING, path=path, line=None, message=Message(message, params)))
    return notes
