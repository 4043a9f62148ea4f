"""A saved snapshot as a file: a zip of manifests with the tree and the moment that belong to them.

    manifests/cluster.json   every object, a List as kubectl writes it
    tree.json                the queues, the policy, its dialect and parameters, in our own form
    moment.json              when it was so, what was protected, which room was kept
    decision.json            what was decided then about one ask, in a file that is to be replayed
    README.txt

All but the manifests may be missing, and whatever else lies in ``manifests`` is read too.
"""

import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple, TypeVar

import msgspec

from engine.formats.kubernetes.writing.manifests import manifests
from engine.formats.tree_json.document import write_form
from engine.model.decision import Decision
from engine.model.notes import gettext_noop
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.journal import PassInputs

_CLUSTER, _TREE, _MOMENT, _README = "manifests/cluster.json", "tree.json", "moment.json", "README.txt"
_DECISION = "decision.json"
_FOLDER, _ENDING = "manifests/", ".json"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others are unpacked whole, however little is asked for: a few bytes would fill the memory."""
_TORN = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError, EOFError, OSError)
"""What is raised for a zip that is none, or none that can be unpacked here."""
_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""Of time, as zip counts it: the same snapshot gives the same bytes."""
_WORDS = """A cluster as Scheduler Admin saw it: manifests with what a scheduler reads of them, and a queue tree.

    python -m engine forecast --snapshot THIS.zip

says who would be preempted for whom. Upload it on a cluster's page Snapshots to compare it with other trees.
"""
_AGAIN = """
    python -m engine replay THIS.zip

decides again what decision.json says, and tells whether it comes out the same.
"""


Part = TypeVar("Part")


class BundleError(ValueError):
    """A file that can't be read. ``message`` is the message id, ``params`` fill its names."""

    def __init__(self, message: str, **params: str) -> None:
        super().__init__(message % params)
        self.message = message
        self.params = params


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that is to be taken again."""

    decision: Decision
    alone: bool = False
    """Whether its ask was looked at by itself; else in its turn, after those that a pass decides before it."""


class Bundle(NamedTuple):
    """What a file holds: objects in JSON's types, and a document of our own form, as they came."""

    objects: list[dict[str, Any]]
    tree: Any = None
    moment: PassInputs | None = None
    kept: Kept | None = None


def pack(
    state: ClusterState, moment: PassInputs, tree: QueueTree, terms: Mapping[str, Any], kept: Kept | None = None
) -> bytes:
    """The zip. ``terms``: ``policy``, ``dialect`` and ``parameters`` of the tree; ``kept``: what is to be replayed."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        with file.open(_entry(_CLUSTER), "w") as listed:
            listed.write(b'{"apiVersion":"v1","kind":"List","items":[')
            for number, obj in enumerate(manifests(state)):
                listed.write((b",\n" if number else b"\n") + msgspec.json.encode(obj))
            listed.write(b"\n]}\n")
        form = msgspec.json.encode({**terms, **write_form(tree)}, order="sorted")
        file.writestr(_entry(_TREE), msgspec.json.format(form, indent=2))
        file.writestr(_entry(_MOMENT), _text(moment))
        if kept is not None:
            file.writestr(_entry(_DECISION), _text(kept))
        file.writestr(_entry(_README), _WORDS + (_AGAIN if kept else ""))
    return packed.getvalue()


def unpack(data: bytes, most: int) -> Bundle:
    """What a zip, or a JSON file of manifests alone, holds. Raises BundleError, also beyond ``most`` bytes of text."""
    if not zipfile.is_zipfile(BytesIO(data)):
        if len(data) > most:
            raise _too_much(most)
        return Bundle([_object(data, "")])
    try:
        with zipfile.ZipFile(BytesIO(data)) as file:
            return _unpacked(file, most)
    except BundleError:
        raise
    except (*_TORN, ValueError) as error:  # the last: one whose own table of contents is a lie
        raise BundleError(gettext_noop("The zip can't be read: %(problem)s."), problem=str(error)) from error


def _unpacked(file: zipfile.ZipFile, most: int) -> Bundle:
    texts: dict[str, bytes] = {}
    for name in sorted(file.namelist()):
        if name in (_TREE, _MOMENT, _DECISION) or (name.startswith(_FOLDER) and name.endswith(_ENDING)):
            if file.getinfo(name).compress_type not in _PACKINGS:
                raise BundleError(gettext_noop("%(name)s is packed in another way than zip programs do it."), name=name)
            with file.open(name) as packed:  # what its header says of its size may be a lie
                texts[name] = packed.read(most + 1)
            most -= len(texts[name])
            if most < 0:
                raise _too_much(most + len(texts[name]))
    objects = [_object(text, name) for name, text in texts.items() if name.startswith(_FOLDER)]
    if not objects:
        raise BundleError(gettext_noop("There is no file of manifests in it, such as %(name)s."), name=_CLUSTER)
    tree = _json(texts[_TREE], _TREE) if _TREE in texts else None
    return Bundle(objects, tree, _typed(texts, _MOMENT, PassInputs), _typed(texts, _DECISION, Kept))


def _text(part: PassInputs | Kept) -> bytes:
    return msgspec.json.format(msgspec.json.encode(part, order="deterministic"), indent=2)


def _typed(texts: Mapping[str, bytes], name: str, kind: type[Part]) -> Part | None:
    if name not in texts:
        return None
    try:
        return msgspec.json.decode(texts[name], type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BundleError(
            gettext_noop("%(name)s can't be read: %(problem)s."), name=name, problem=str(error)
        ) from error


def _object(text: bytes, name: str) -> dict[str, Any]:
    found = _json(text, name)
    if not isinstance(found, dict):
        raise BundleError(gettext_noop("%(name)s does not hold a Kubernetes object."), name=name or _CLUSTER)
    return found


def _json(text: bytes, name: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if name:
            message = gettext_noop("%(name)s can't be read: %(problem)s.")
            raise BundleError(message, name=name, problem=str(error)) from error
        message = gettext_noop(
            "This is neither a saved snapshot nor JSON, as kubectl get -o json writes it: %(problem)s."
        )
        raise BundleError(message, problem=str(error)) from error


def _too_much(most: int) -> BundleError:
    message = gettext_noop("There are more than %(most)s MB of text in it. The command line takes any size.")
    return BundleError(message, most=str(most // 1_000_000))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _BEGINNING)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
