"""Everything that reads what others wrote, with what it may be given and the errors that it may raise."""

import gzip
import json
import zipfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from engine.cli.forecast import tree_of_document, whole_cluster
from engine.cli.replay import replay_bundle
from engine.cluster.connecting.kubeconfig import Kubeconfig
from engine.cluster.errors import ClusterError
from engine.formats import registry
from engine.formats.kubernetes import decode
from engine.formats.kubernetes.reader import DecodeError
from engine.formats.kueue import watched as kueue
from engine.formats.tree_json.amounts import AmountError, read_amount
from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.formats.tree_json.durations import DurationError, parse_duration
from engine.formats.tree_json.label_lines import PairsError, read_pairs
from engine.formats.tree_json.percentages import read_share
from engine.formats.tree_json.weights import read_weight
from engine.formats.volcano import watched as volcano
from engine.formats.volcano.pod_groups import GROUP_READER
from engine.formats.yaml.manifests import ManifestError, load
from engine.formats.yunikorn import rest
from engine.model import go_regexp
from engine.model.notes import ImportFailure
from engine.model.quantities import QuantityError, parse_amount, parse_quantity
from engine.model.queue_tree import TreeError
from engine.planning import journal
from engine.planning.bundle import BundleError, SavedDecision, pack, unpack
from engine.planning.journal import PassInputs
from engine.policies import UnknownPolicyError, policy
from scheduler_admin.queues.api import documents
from scheduler_admin.rest import problems
from scheduler_admin.rest.media import OWN_FORM, YUNIKORN, Body
from tests.engine.test_bundle import MOMENT, TERMS, TREE, crowded
from tests.engine.test_native import DOCUMENTS
from tests.fuzz.mutations import TEXTS, data, mutated, spliced, texts

ROOM = 10**8
DATA = Path(__file__).parents[1] / "data"
QUANTITIES = ["100m", "1.5", "64Gi", "1e3", "12E", "-1", "+0.5Ki", "40%", "2"]
DURATIONS = ["1h30m", "500ms", "1.5h", "-2s", "100us", "0"]
EXPRESSIONS = [r"^(batch|test)-[0-9]+$", r"a{2,5}b*?", r"[^a-z\d]+(x|y)*$", r"\bteam\.", "(a(b(c)?)+)*"]
KUBECONFIG = """\
current-context: a
contexts: [{name: a, context: {cluster: b, user: c, namespace: d}}]
clusters: [{name: b, cluster: {server: "https://10.0.0.1:6443", insecure-skip-tls-verify: true}}]
users: [{name: c, user: {token: t, exec: {apiVersion: v1, command: x}}}]
"""


@dataclass(frozen=True)
class Parser:
    """One reader. ``read`` gives a value or raises one of ``errors``, within ``seconds`` of CPU time."""

    read: Callable[[Any], Any]
    errors: tuple[type[Exception], ...]
    given: Callable[[], st.SearchStrategy[Any]]
    seconds: float = 1.0
    share: int = 4
    """How much of all examples it gets, against the others."""


@cache
def objects() -> dict[str, list[Any]]:
    """Kind -> some objects that real clusters had."""
    found: dict[str, list[Any]] = defaultdict(list)
    for file in sorted(DATA.glob("*/*.jsonl.gz")):
        with gzip.open(file) as lines:
            for obj in json.loads(next(iter(lines)))["objects"]:
                if len(found[obj["kind"]]) < 12:
                    found[obj["kind"]].append(obj)
    return found


def _of_kind(kind: str) -> Callable[[], st.SearchStrategy[bytes]]:
    return lambda: data(objects()[kind] or [{"metadata": {"name": "x"}, "spec": {}, "status": {}}])


def _quantity(text: str) -> None:
    parse_quantity(text)
    for resource in ("cpu", "memory", "nvidia.com/gpu"):
        parse_amount(resource, text)


def _native(form: registry.Format) -> Callable[[str], None]:
    def read(text: str) -> None:
        for found in (registry.read(text, form), registry.read(text)):
            assert encode_tree(decode_tree(encode_tree(found.tree))) == encode_tree(found.tree)

    return read


def _rest(media_type: str) -> Callable[[bytes], Any]:
    return lambda raw: documents.read(Body(media_type, raw), None)


def _matches(expression: str) -> None:
    go_regexp.check(expression)
    go_regexp.matches(expression, "batch-12 team." + "a" * 60)


def _kubeconfig(text: str) -> None:
    found = Kubeconfig.of(text)
    found.contexts()
    found.entry()


def _snapshot(packed: bytes) -> None:
    """As an upload reads it."""
    found = unpack(packed, ROOM)
    whole_cluster(document.obj for document in load(found.objects))
    if found.tree is not None and (tree := tree_of_document(found.tree).tree) is not None:
        encode_tree(tree)


@cache
def saved() -> dict[str, Any]:
    """The files of a saved snapshot with a decision in it, as what they hold."""
    state = crowded()
    decide = policy("fence", "design", {})
    ask = next(pod for pod in MOMENT.snapshot(state, TREE).asks if pod.name == "p")
    kept = SavedDecision(decision=decide(MOMENT.snapshot(state, TREE), TREE, ask))
    with zipfile.ZipFile(BytesIO(pack(state, PassInputs(now_ms=MOMENT.now_ms), TREE, TERMS, kept))) as file:
        return {name: json.loads(file.read(name)) for name in file.namelist() if name.endswith(".json")}


def _zipped(files: Any) -> bytes:
    """A zip of these files; what is none is sent as it is."""
    if not isinstance(files, dict):
        return repr(files).encode("utf-8", "surrogatepass")
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, held in files.items():
            entry = str(name).encode("utf-8", "replace").decode().partition("\0")[0]  # where zipfile ends a name
            file.writestr(entry or "x", json.dumps(held, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return packed.getvalue()


@st.composite
def _torn(draw: Any, whole: bytes) -> bytes:
    """Bytes with some of them others, or gone."""
    found = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(found) - 1))
        found[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
        if not found:
            break
    return bytes(found)


def _bundles() -> st.SearchStrategy[bytes]:
    whole = _zipped(saved())
    return mutated([saved()]).map(_zipped) | _torn(whole) | data([saved()["manifests/cluster.json"]])


def _journals() -> st.SearchStrategy[bytes]:
    return _torn(journal.encode_keyframe(crowded(), MOMENT)) | st.binary(max_size=200)


def _short(seeds: list[str]) -> Callable[[], st.SearchStrategy[str]]:
    return lambda: spliced(seeds) | TEXTS


_READ = (ImportFailure, DecodeError, ManifestError, BundleError)
_DECIDED = (*_READ, msgspec.ValidationError, UnknownPolicyError)
_DECODED = (DecodeError,)
_FOREIGN = (rest.ForeignAnswerError,)
_FORMS = {f"document/{form.value}": form for form in registry.Format}
_BYTES = {
    "Pod": decode.POD_READER.from_bytes,
    "Node": decode.NODE_READER.from_bytes,
    "PriorityClass": decode.PRIORITY_CLASS_READER.from_bytes,
    "PodDisruptionBudget": decode.BUDGET_READER.from_bytes,
    "PersistentVolumeClaim": decode.CLAIM_READER.from_bytes,
    "PersistentVolume": decode.VOLUME_READER.from_bytes,
    "Namespace": decode.NAMESPACE_READER.from_bytes,
    "ResourceFlavor": kueue.FLAVOR_READER.from_bytes,
    "ClusterQueue": kueue.CLUSTER_QUEUE_READER.from_bytes,
    "Cohort": kueue.COHORT_READER.from_bytes,
    "LocalQueue": kueue.LOCAL_QUEUE_READER.from_bytes,
    "Workload": kueue.WORKLOAD_READER.from_bytes,
    "Queue": volcano.QUEUE_READER.from_bytes,
    "PodGroup": GROUP_READER.from_bytes,
    "ConfigMap": volcano.SETTINGS_READER.from_bytes,
}
_BATCH = {
    "InstanceUUID": "u",
    "LowestID": 1,
    "HighestID": 2,
    "EventRecords": [{"type": 1, "objectID": "p", "message": "preempted by x", "timestampNano": 10**18}],
}
_QUEUES = {
    "queuename": "root",
    "allocatedResource": {"vcore": 1000, "memory": 10**9},
    "maxResource": {"pods": 4},
    "preemptionDelay": "30s",
    "children": [{"queuename": "root.a", "isLeaf": True, "isPreemptionFence": True}],
}
_TREES = [
    {"queues": [{"path": "root"}, {"path": "root.a", "max": {"cpu": "40%"}, "delay": "30s", "namespaces": ["n"]}]}
]

PARSERS: dict[str, Parser] = {
    "quantity": Parser(_quantity, (QuantityError,), _short(QUANTITIES)),
    "amount": Parser(lambda text: read_amount("cpu", text), (AmountError,), _short(QUANTITIES)),
    "share": Parser(read_share, (AmountError,), _short(QUANTITIES)),
    "weight": Parser(read_weight, (AmountError,), _short(QUANTITIES)),
    "duration": Parser(parse_duration, (DurationError,), _short(DURATIONS)),
    "expression": Parser(_matches, (go_regexp.ExpressionError,), _short(EXPRESSIONS)),
    "pairs": Parser(read_pairs, (PairsError,), _short(['a: b\nc: "d"', "team/x: y"])),
    "kubeconfig": Parser(_kubeconfig, (ClusterError,), lambda: texts([KUBECONFIG]), 2, 2),
    **{
        name: Parser(_native(form), (ImportFailure,), lambda form=form: texts([DOCUMENTS[form]]), 4, 3)
        for name, form in _FORMS.items()
    },
    "REST/json": Parser(_rest(OWN_FORM), (problems.Refusal,), lambda: data(_TREES), 2),
    "REST/yaml": Parser(_rest(YUNIKORN), (problems.Refusal,), lambda: texts(list(DOCUMENTS.values())).map(_utf8), 8, 1),
    "tree": Parser(decode_tree, (ValueError, TreeError), lambda: data([json.loads(encode_tree(TREE))])),
    **{f"object/{kind}": Parser(read, _DECODED, _of_kind(kind)) for kind, read in _BYTES.items()},
    "YuniKorn's events": Parser(rest.read_batch, _FOREIGN, lambda: data([_BATCH])),
    "YuniKorn's queues": Parser(rest.read_queues, _FOREIGN, lambda: data([_QUEUES, [_QUEUES]])),
    "saved snapshot": Parser(_snapshot, _READ, _bundles, 4, 2),
    "replay file": Parser(lambda packed: replay_bundle(unpack(packed, ROOM)), _DECIDED, _bundles, 4, 1),
    "journal": Parser(lambda blob: journal.read([blob]), (journal.JournalError,), _journals, 2, 2),
}


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
