"""Reads and writes a saved snapshot: a zip of manifests with their tree and the inputs of the pass.

    manifests/cluster.json   every object, a List as kubectl writes it
    tree.json                the queues, the policy, its dialect and parameters, in the product's own format
    moment.json              the time, what was protected, which capacity was reserved
    decision.json            the decision about one pending pod, in a file that is to be replayed
    README.txt

All but the manifests may be missing; any other file in ``manifests`` is read too.
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
from engine.model.message import MessageError, gettext_noop
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.journal import PassInputs

_CLUSTER, _TREE, _MOMENT, _README = "manifests/cluster.json", "tree.json", "moment.json", "README.txt"
_DECISION = "decision.json"
_FOLDER, _ENDING = "manifests/", ".json"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other methods unpack a whole file, however little is requested: a few bytes would fill the memory."""
_TORN = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError, EOFError, OSError)
"""The errors for a file that is no zip, or one that can't be unpacked here."""
_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The earliest time of the zip format: the same snapshot gives the same bytes."""
_WORDS = """A cluster as Scheduler Admin saw it: manifests with what a scheduler reads of them, and a queue tree.

    python -m engine forecast --snapshot THIS.zip

says who would be preempted for whom. Upload it on a cluster's page Snapshots to compare it with other trees.
"""
_AGAIN = """
    python -m engine replay THIS.zip

decides again what decision.json says, and tells whether it comes out the same.
"""


Part = TypeVar("Part")


class BundleError(MessageError, ValueError):
    """A file that can't be read."""


class SavedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that is to be replayed."""

    decision: Decision
    alone: bool = False
    """Whether its pod was decided alone; else in its turn, after the pods that a pass decides before it."""


class Bundle(NamedTuple):
    """The content of a file as it was read: objects in JSON's types, and a tree in the product's own format."""

    objects: list[dict[str, Any]]
    tree: Any = None
    moment: PassInputs | None = None
    saved: SavedDecision | None = None


def pack(
    state: ClusterState,
    moment: PassInputs,
    tree: QueueTree,
    terms: Mapping[str, Any],
    saved: SavedDecision | None = None,
) -> bytes:
    """Return the zip of a snapshot.

    ``terms``: ``policy``, ``dialect`` and ``parameters`` of the tree; ``saved``: the decision that is to be replayed.
    """
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
        if saved is not None:
            file.writestr(_entry(_DECISION), _text(saved))
        file.writestr(_entry(_README), _WORDS + (_AGAIN if saved else ""))
    return packed.getvalue()


def unpack(data: bytes, most: int) -> Bundle:
    """Return the content of a zip, or of a JSON file of manifests.

    Raises BundleError, also beyond ``most`` bytes of text.
    """
    if not zipfile.is_zipfile(BytesIO(data)):
        if len(data) > most:
            raise _too_much(most)
        return Bundle([_object(data, "")])
    try:
        with zipfile.ZipFile(BytesIO(data)) as file:
            return _unpacked(file, most)
    except BundleError:
        raise
    except (*_TORN, ValueError) as error:  # ValueError where its own directory is wrong
        raise BundleError(gettext_noop("The zip can't be read: %(problem)s."), problem=str(error)) from error


def _unpacked(file: zipfile.ZipFile, most: int) -> Bundle:
    texts: dict[str, bytes] = {}
    for name in sorted(file.namelist()):
        if name in (_TREE, _MOMENT, _DECISION) or (name.startswith(_FOLDER) and name.endswith(_ENDING)):
            if file.getinfo(name).compress_type not in _PACKINGS:
                raise BundleError(
                    gettext_noop("%(name)s is compressed in a way that zip programs do not use."), name=name
                )
            with file.open(name) as packed:  # the size in its header may be wrong
                texts[name] = packed.read(most + 1)
            most -= len(texts[name])
            if most < 0:
                raise _too_much(most + len(texts[name]))
    objects = [_object(text, name) for name, text in texts.items() if name.startswith(_FOLDER)]
    if not objects:
        raise BundleError(gettext_noop("It contains no manifest file, such as %(name)s."), name=_CLUSTER)
    tree = _json(texts[_TREE], _TREE) if _TREE in texts else None
    return Bundle(objects, tree, _typed(texts, _MOMENT, PassInputs), _typed(texts, _DECISION, SavedDecision))


def _text(part: PassInputs | SavedDecision) -> bytes:
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
    value = _json(text, name)
    if not isinstance(value, dict):
        raise BundleError(gettext_noop("%(name)s does not contain a Kubernetes object."), name=name or _CLUSTER)
    return value


def _json(text: bytes, name: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if name:
            message = gettext_noop("%(name)s can't be read: %(problem)s.")
            raise BundleError(message, name=name, problem=str(error)) from error
        message = gettext_noop(
            "This is neither a saved snapshot nor JSON as written by kubectl get -o json: %(problem)s."
        )
        raise BundleError(message, problem=str(error)) from error


def _too_much(most: int) -> BundleError:
    message = gettext_noop("It contains more than %(most)s MB of text. The command line accepts any size.")
    return BundleError(message, most=str(most // 1_000_000))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _BEGINNING)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
