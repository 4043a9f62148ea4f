"""Stores a cluster's states as a chain of blobs: the first has the whole state, the others only the changes.

A blob also holds the inputs of its pass, so that the whole pass can be run again. The same states and inputs give the
same bytes. Reading returns equal objects; the order of a mapping's keys is not preserved, and nothing may depend on it.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from engine.audit import AuditTerms
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import (
    Claim,
    CompositeGroup,
    DisruptionBudget,
    GroupScheduling,
    Namespace,
    Node,
    Pod,
    PodGroup,
    PriorityClass,
    SchedulingGroup,
    Volume,
)
from engine.model.quantities import Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Protection, Reservation, Safeguards, Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import Decide

FORM = 3
"""The format version, the first byte of every blob. Increase it when blobs change so that old readers misread them."""

FORM_OF_PIECES = 4
"""The first byte of the pieces of a keyframe, which readers of form 3 do not know."""

PIECE = 5_000
"""How many objects a piece of a keyframe has. Encoding them keeps other threads waiting for some milliseconds."""


class JournalError(ValueError):
    """A chain that can't be read. ``str()`` is a sentence."""


class JournalVersionError(JournalError):
    """The blob was written in another format version."""


class CorruptJournalError(JournalError):
    """The blob is truncated, altered, or not in its place in a chain."""


class PassInputs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The inputs of a pass besides the cluster's state, and the safeguards that held back its decisions."""

    now_ms: int
    protection: Protection = Protection()
    reservations: tuple[Reservation, ...] = ()
    going: frozenset[str] = frozenset()
    """Uids of terminating pods, whether or not the cluster shows it yet."""
    notices: dict[str, int] = {}
    """Queue -> when it was notified to give back what it uses beyond what it deserves."""
    quotas: dict[str, Amounts] = {}
    """Namespace -> the most that its ResourceQuotas allow, where the policy divides within that."""
    safeguards: Safeguards | None = None
    """The constraints on the policy's choice; None: no constraints."""
    scheduler: str = ""
    """The scheduler whose pods alone are in queues; see ClusterState."""
    group_scheduling: GroupScheduling = GroupScheduling()
    """Whether kube-scheduler schedules PodGroups as a whole."""
    holds: dict[str, str] = {}
    """A pending pod's uid -> the safeguard that held its decision back."""

    def snapshot(self, state: ClusterState, tree: QueueTree) -> Snapshot:
        """Return the cluster as the pass saw it."""
        frozen = state.snapshot(
            tree,
            now_ms=self.now_ms,
            protection=self.protection,
            reservations=self.reservations,
            notices=self.notices,
            quotas=self.quotas,
        )
        frozen = frozen.guarded(self.safeguards)
        return frozen.expecting(pod for uid in sorted(self.going) if (pod := frozen.pod(uid)) is not None)

    def hold(self, considered: AuditedDecision) -> str:
        """Return the safeguard that held a decision back; empty: none."""
        return self.holds.get(considered.decision.ask.uid, "")


def holds_of(considered: Iterable[AuditedDecision]) -> dict[str, str]:
    """Return the safeguards of a pass that its inputs store."""
    return {audited.decision.ask.uid: audited.hold for audited in considered if audited.hold}


_Altered: Any = msgspec.defstruct(
    "_Altered",
    [(field.name, field.type | UnsetType, UNSET) for field in msgspec.structs.fields(Pod) if field.name != "uid"],
    namespace={"__doc__": "What changed of a pod: the fields that are set."},
    frozen=True,
    kw_only=True,
)


class _Blob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The changes from one state to the next: objects that are added, removed keys in order, and changed pods."""

    moment: PassInputs
    whole: bool = False
    """Whether it is the first of its chain: it has no previous state."""
    more: bool = False
    """Whether more pieces of a keyframe follow: only after the last one the state is complete."""
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    classes: tuple[PriorityClass, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    claims: tuple[Claim, ...] = ()
    volumes: tuple[Volume, ...] = ()
    scheduling_groups: tuple[SchedulingGroup, ...] = ()
    composite_groups: tuple[CompositeGroup, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    altered: dict[str, _Altered] = {}
    """Changed fields by uid: pods change often and little, so only these are stored."""
    gone_nodes: tuple[str, ...] = ()
    gone_pods: tuple[str, ...] = ()
    gone_classes: tuple[str, ...] = ()
    gone_budgets: tuple[tuple[str, str], ...] = ()
    gone_namespaces: tuple[str, ...] = ()
    gone_claims: tuple[tuple[str, str], ...] = ()
    gone_volumes: tuple[str, ...] = ()
    gone_scheduling_groups: tuple[tuple[str, str], ...] = ()
    gone_composite_groups: tuple[tuple[str, str], ...] = ()
    gone_pod_groups: tuple[tuple[str, str], ...] = ()


_KEYS: dict[str, Callable[[Any], Any]] = {
    "nodes": lambda node: node.name,
    "pods": lambda pod: pod.uid,
    "classes": lambda priority_class: priority_class.name,
    "budgets": lambda budget: (budget.namespace, budget.name),
    "namespaces": lambda namespace: namespace.name,
    "claims": lambda claim: (claim.namespace, claim.name),
    "volumes": lambda volume: volume.name,
    "scheduling_groups": lambda group: (group.namespace, group.name),
    "composite_groups": lambda group: (group.namespace, group.name),
    "pod_groups": lambda group: (group.namespace, group.name),
}
"""The state's columns, and the key of an object in each."""

_encoder = msgspec.msgpack.Encoder(order="deterministic")
_decoder = msgspec.msgpack.Decoder(_Blob)


def same_state(first: ClusterState, second: ClusterState, pods: Collection[str] | None = None) -> bool:
    """Return whether two states hold equal objects. Fast where they share them.

    ``pods``: the uids of all pods that can differ; None if that is unknown.
    """
    if pods is not None and any(first.pods.get(uid) != second.pods.get(uid) for uid in pods):
        return False
    columns = (column for column in _KEYS if column != "pods" or pods is None)
    return all(getattr(first, column) == getattr(second, column) for column in columns)


def encode_keyframe(state: ClusterState, moment: PassInputs) -> bytes:
    """Return the first blob of a chain: a keyframe with the whole state."""
    return _packed(_Blob(moment=moment, whole=True, **_changes(ClusterState(), state)))


def count_pieces(state: ClusterState) -> int:
    """Return how many pieces ``encode_pieces`` yields for a state."""
    return max(1, sum(-(-len(getattr(state, column)) // PIECE) for column in _KEYS))


def encode_pieces(state: ClusterState, moment: PassInputs) -> Iterator[bytes]:
    """Yield the first blobs of a chain, which are a keyframe together. Each needs memory for its own objects only.

    They are in the order in which the state is iterated, so their bytes are not those of another state that is equal.
    """
    last = count_pieces(state)
    brief = PassInputs(now_ms=moment.now_ms)
    for number, objects in enumerate(_objects(state), 1):
        blob = _Blob(moment=moment if number == last else brief, whole=number == 1, more=number < last, **objects)
        yield _packed(blob, FORM_OF_PIECES)


def encode_changes(
    before: ClusterState, after: ClusterState, moment: PassInputs, pods: Collection[str] | None = None
) -> bytes:
    """Return the next blob of a chain whose last state is ``before``.

    ``pods``: the uids of all pods that can differ; None if that is unknown.
    """
    return _packed(_Blob(moment=moment, **_changes(before, after, pods)))


def numbered_frames(chain: Iterable[bytes]) -> Iterator[tuple[int, ClusterState, PassInputs]]:
    """Yield state and inputs after each blob of a chain, with the offset of the blob; see ``frames``."""
    state, more = ClusterState(), False
    for place, data in enumerate(chain):
        blob = _unpacked(data)
        if blob.whole != (place == 0) or (more and data[0] != FORM_OF_PIECES):
            raise CorruptJournalError("the journal has a gap")
        _apply(blob, state)
        more = blob.more
        if not more:
            state.scheduler, state.group_scheduling = blob.moment.scheduler, blob.moment.group_scheduling
            yield place, state, blob.moment
    if more:
        raise CorruptJournalError("the journal has a gap")


def frames(chain: Iterable[bytes]) -> Iterator[tuple[ClusterState, PassInputs]]:
    """Yield state and inputs after each blob of a chain; the state is one object that is updated at each step.

    Pieces of a keyframe count as one blob. Raises JournalVersionError and CorruptJournalError.
    """
    return ((state, moment) for _place, state, moment in numbered_frames(chain))


def read(chain: Iterable[bytes]) -> tuple[ClusterState, PassInputs]:
    """Return state and inputs at the end of a chain.

    Raises JournalVersionError, and CorruptJournalError also for an empty chain.
    """
    last = None
    for last in frames(chain):  # noqa: B007 - the last one is wanted
        pass
    if last is None:
        raise CorruptJournalError("the journal is empty")
    return last


def replay(
    state: ClusterState,
    moment: PassInputs,
    tree: QueueTree,
    decide: Decide,
    *,
    terms: AuditTerms = AuditTerms(),  # noqa: B008 - frozen
) -> list[AuditedDecision]:
    """Run a pass again as it was: the same decisions, audits and holds. See ``scheduling_pass.plan``."""
    snapshot = moment.snapshot(state, tree)
    return plan(snapshot, snapshot.tree, decide, terms=terms, hold=moment.hold)


def _changes(before: ClusterState, after: ClusterState, pods: Collection[str] | None = None) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for column in _KEYS:
        old, new = getattr(before, column), getattr(after, column)
        if column == "pods" and pods is not None:
            old, new = ({uid: one for uid in pods if (one := some.get(uid)) is not None} for some in (old, new))
        if old == new:
            continue
        differing = sorted(_differing(old, new))
        changes[f"gone_{column}"] = tuple(sorted(old.keys() - new.keys()))
        if column == "pods":
            changes["altered"] = {uid: _altered(old[uid], new[uid]) for uid in differing if uid in old}
            differing = [uid for uid in differing if uid not in old]
        changes[column] = tuple(new[key] for key in differing)
    return changes


def _objects(state: ClusterState) -> Iterator[dict[str, Any]]:
    """Yield the objects of each piece by their column."""
    count = 0
    for column, key_of in _KEYS.items():
        left = iter(getattr(state, column).values())
        while objects := list(islice(left, PIECE)):
            count += 1
            yield {column: tuple(sorted(objects, key=key_of))}
    if not count:
        yield {}


def _differing(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the keys of new or changed objects; most objects are identical, so identity is compared first."""
    for key, value in new.items():
        known = old.get(key)
        if known is not value and known != value:
            yield key


def _altered(old: Pod, new: Pod) -> Any:
    fields = _Altered.__struct_fields__
    return _Altered(**{name: value for name in fields if (value := getattr(new, name)) != getattr(old, name)})


def _apply(blob: _Blob, state: ClusterState) -> None:
    for column, key_of in _KEYS.items():
        objects = getattr(state, column)
        for key in getattr(blob, f"gone_{column}"):
            objects.pop(key, None)
        objects.update((key_of(obj), obj) for obj in getattr(blob, column))
    for uid, altered in blob.altered.items():
        if uid not in state.pods:
            raise CorruptJournalError(f"the journal has a gap: pod {uid} changed, but never came")
        values = {name: getattr(altered, name) for name in altered.__struct_fields__}
        fields = {name: value for name, value in values.items() if value is not UNSET}
        state.pods[uid] = msgspec.structs.replace(state.pods[uid], **fields)


def _packed(blob: _Blob, form: int = FORM) -> bytes:
    return bytes([form]) + zlib.compress(_encoder.encode(blob))


def _unpacked(data: bytes) -> _Blob:
    if data and data[0] not in (FORM, FORM_OF_PIECES):
        raise JournalVersionError(f"the journal is in form {data[0]}, this version reads form {FORM}")
    try:
        return _decoder.decode(zlib.decompress(data[1:]))
    except (zlib.error, *UNDECODABLE) as error:
        raise CorruptJournalError(f"the journal is torn: {error}") from error
