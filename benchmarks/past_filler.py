"""Decisions of some days with their victims and mentions, of a thousand queues, made within PostgreSQL."""

# ruff: noqa: S608 - the statements are this file's own

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models.fields.json import JSONField

from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree

QUEUES, APPLICATIONS, NODES = 1000, 20, 5000
"""Leaves, a skewed few of which have most; applications of each leaf; nodes."""
_PIECE = 100_000
_QUEUE = "'root.t' || {q} / 50 || '.g' || {q} / 10 % 5 || '.q' || {q}"
_NAMESPACE = "'ns-' || {q} / 4"
_APPLICATION = "'app-' || {q} || '-' || floor(random() * 20)::int"
_LEAF = "floor(1000 * random() ^ 2)::int"
_NEIGHBOUR = "(substring(ask_queue FROM 't([0-9]+)')::int * 50 + floor(50 * random() ^ 2)::int)"
"""A leaf of the same tenant: fences let nobody take from another."""
_NUMBER = "('x' || encode(substr(sha256(convert_to({said}, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint"
"""As number_of has it."""
_PREEMPTS = "(i % 100 <> 0)"


def tree() -> QueueTree:
    """Their queues: twenty tenants, each behind a fence, with a hundred groups of ten leaves."""
    queues = {"root": Queue(path="root")}
    for q in range(QUEUES):
        tenant, group = f"root.t{q // 50}", f"root.t{q // 50}.g{q // 10 % 5}"
        queues[tenant] = Queue(path=tenant, preemption_policy=PreemptionPolicy.FENCE, guaranteed={"cpu": 250_000})
        queues[group] = Queue(path=group, guaranteed={"cpu": 50_000})
        leaf = f"{group}.q{q}"
        own, most = ({"cpu": cpu, "memory": 4 * 2**20 * cpu} for cpu in (4000, 8000))
        queues[leaf] = Queue(path=leaf, guaranteed=own, max=most, delay_ms=30_000)
    return QueueTree(queues.values())


@dataclass(frozen=True)
class Stretch:
    """Decisions from one number to another, evenly over the time up to a moment."""

    cluster: int
    first: int
    last: int
    length: timedelta
    until: datetime
    document: str

    @property
    def many(self) -> int:
        """How many they are."""
        return self.last - self.first + 1


def made(cursor: Any, stretch: Stretch) -> None:
    """Make them, the oldest first."""
    for first in range(stretch.first, stretch.last + 1, _PIECE):
        part = first, min(first + _PIECE - 1, stretch.last)
        _decisions(cursor, stretch, part)
        _victims(cursor, stretch.cluster, part)
        _mentions(cursor, part)


def _insert(cursor: Any, model: type[models.Model], source: str, given: dict[str, str]) -> None:
    """Rows of a query, whose columns the expressions name; what none is given for has its field's default."""
    columns = {
        str(field.column): given.get(field.name, _default(field))
        for field in model._meta.fields  # noqa: SLF001 - Django's documented name
        if field.name != "id"
    }
    if "id" in given:
        columns["id"] = given["id"]
    names, values = ", ".join(columns), ", ".join(columns.values())
    cursor.execute(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {values} FROM {source}")  # noqa: SLF001


def _default(field: Any) -> str:
    if field.null:
        return "NULL"
    value = field.get_default()
    if isinstance(field, JSONField):
        return f"'{'[]' if value == [] else '{}'}'::jsonb"
    return f"'{'' if value is None else value}'"


def _decisions(cursor: Any, stretch: Stretch, part: tuple[int, int]) -> None:
    from scheduler_admin.decisions.models import Decision  # noqa: PLC0415 - once Django is set up

    long_s = stretch.length.total_seconds()
    ago = f"interval '{long_s} seconds' * (({stretch.last} - i)::float / {stretch.many})"
    at = f"timestamptz '{stretch.until.isoformat()}' - {ago}"
    seed = "random() AS chance, random() AS other"
    source = (
        f"(SELECT i, {_LEAF} AS q, {at} AS at, {seed} FROM generate_series({part[0]}, {part[1]}) AS i OFFSET 0) AS made"
    )
    ending = (
        "CASE WHEN chance < .85 THEN 'bound' WHEN chance < .92 THEN 'pod-gone' WHEN chance < .96 THEN 'capacity-taken'"
        " WHEN chance < .99 THEN 'timed-out' ELSE 'rejected' END"
    )
    who = "CASE WHEN other < .8 THEN 'engine' WHEN other < .95 THEN 'kube-scheduler' ELSE 'kubelet' END"
    _insert(
        cursor,
        Decision,
        source,
        {
            "id": "i",
            "cluster": str(stretch.cluster),
            "source": who,
            "policy": "'fence'",
            "ask_uid": "'ask-' || i",
            "ask_namespace": _NAMESPACE.format(q="q"),
            "ask_name": "'worker-' || i",
            "ask_queue": _QUEUE.format(q="q"),
            "ask_application": _APPLICATION.format(q="q"),
            "ask_priority_class": "'class-' || floor(8 * random() ^ 2)::int",
            "ask_requests": '\'{"cpu": 8000, "memory": 68719476736}\'::jsonb',
            "outcome": f"CASE WHEN {_PREEMPTS} THEN 'preempt' ELSE 'no-candidate' END",
            "reason": "CASE WHEN chance < .7 THEN 'below-guarantee' ELSE 'lower-priority' END",
            "node": f"'n-' || floor({NODES} * random())::int",
            "state": f"CASE WHEN {_PREEMPTS} THEN 'closed' ELSE 'recorded' END",
            "ending": f"CASE WHEN {_PREEMPTS} THEN {ending} ELSE '' END",
            "first_seen": "at",
            "last_seen": "at",
            "closed_at": "at + interval '38 seconds'",
            "again": f"{_PREEMPTS} AND other < .01",
            "document": f"'\\x{_compressed(stretch.document)}'::bytea",
        },
    )


def _victims(cursor: Any, cluster_id: int, part: tuple[int, int]) -> None:
    from scheduler_admin.decisions.models import Victim  # noqa: PLC0415

    source = (
        f"(SELECT decision.id AS d, first_seen AS at, ending, {_NEIGHBOUR} AS q, position"
        " FROM history_decision AS decision, generate_series(1, 1 + decision.id::int % 3) AS position"
        f" WHERE decision.id BETWEEN {part[0]} AND {part[1]}"
        " AND outcome = 'preempt' OFFSET 0) AS made"
    )
    lost = "ending <> 'rejected'"
    _insert(
        cursor,
        Victim,
        source,
        {
            "decision": "d",
            "cluster": str(cluster_id),
            "position": "position",
            "uid": "'victim-' || d || '-' || position",
            "namespace": _NAMESPACE.format(q="q"),
            "name": "'batch-' || d || '-' || position",
            "queue": _QUEUE.format(q="q"),
            "application": _APPLICATION.format(q="q"),
            "requests": '\'{"cpu": 4000, "memory": 34359738368}\'::jsonb',
            "node": "'n-1'",
            "reason": "'over-guarantee'",
            "state": f"CASE WHEN {lost} THEN 'exited' ELSE 'spared' END",
            "evicted_at": f"CASE WHEN {lost} THEN at END",
            "gone_at": f"CASE WHEN {lost} THEN at + interval '18 seconds' END",
            "booked": "true",
            "preempted_in_day": "1",
            "changes": "'[]'::jsonb",
        },
    )


def _mentions(cursor: Any, part: tuple[int, int]) -> None:
    between = f"BETWEEN {part[0]} AND {part[1]}"
    about = "c || ' ' || kind || ' ' || pod.name"
    cursor.execute(
        "INSERT INTO history_mention (decision_id, first_seen, about)"
        f" SELECT DISTINCT d, at, {_NUMBER.format(said=about)} FROM ("
        " SELECT id AS d, cluster_id AS c, first_seen AS at, ask_queue AS q, ask_namespace AS n, ask_application AS a"
        f" FROM history_decision WHERE id {between} UNION ALL"
        " SELECT decision_id, victim.cluster_id, first_seen, queue, namespace, application"
        f" FROM history_victim AS victim JOIN history_decision AS decision"
        f" ON decision.id = decision_id WHERE decision_id {between}"
        " ) AS pods, LATERAL (VALUES ('queue', q), ('queue', left(q, -strpos(reverse(q), '.'))),"
        " ('queue', 'root.' || split_part(q, '.', 2)), ('queue', 'root'), ('namespace', n), ('application', a)"
        " ) AS pod (kind, name) ORDER BY d"
    )


def _compressed(document: str) -> str:
    """As the product writes it, in hexadecimal."""
    from django.db import connection  # noqa: PLC0415

    from scheduler_admin.decisions.models import Decision  # noqa: PLC0415

    field = Decision._meta.get_field("document")  # noqa: SLF001 - as above
    return bytes(field.get_db_prep_save(document, connection).obj).hex()
