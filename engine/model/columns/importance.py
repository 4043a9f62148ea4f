"""Sorts bound pods by node and by kube-scheduler's importance, updated incrementally from snapshot to snapshot."""

from collections.abc import Mapping

import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.pod_table import Importance, Numbers, Roster


def start_times(roster: Roster, now_ms: int) -> Numbers:
    """Return, by roster index, when the pod started; a pod that has not started counts as started now."""
    started = roster.numbers(pod_fields.started)
    return np.where(started == pod_fields.NEVER, now_ms, started)


def order_by_importance(roster: Roster, place: Mapping[str, int], now_ms: int) -> Importance:
    """Return the order of a roster's pods by importance, and cache it in the roster.

    Only the nodes whose order may have changed are sorted again.
    """
    roster = roster.plain
    before = roster.importance
    if before is None or len(before.node) < len(roster.pods) or (before.now_ms, before.place) != (now_ms, place):
        roster.importance = before = _importance(roster, place, now_ms, before)
    return before


def _importance(roster: Roster, place: Mapping[str, int], now_ms: int, before: Importance | None) -> Importance:
    coded = roster.coded(pod_fields.node)
    node = np.array([place.get(pod.node or "", -1) for pod in coded.each], np.intp)[coded.of]
    started = start_times(roster, now_ms)
    anew, kept = np.ones(len(place) + 1, np.bool_), np.zeros(0, np.intp)
    if before is not None:
        anew[:-1] = [name not in before.place for name in place]
        anew[node[before.fresh]] = True
        anew[node[started >= min(now_ms, before.now_ms)]] = True
        kept = before.rows[~anew[node[before.rows]] & (node[before.rows] >= 0)]
    anew[-1] = False  # index -1 collects the pods that are on none of the nodes
    again = np.flatnonzero(anew[node])
    importance = (started[again], -roster.numbers(pod_fields.priority)[again], node[again])
    rows = np.concatenate([kept, again[np.lexsort(importance)]])  # stable: equal pods stay in the order of their names
    return Importance(place, now_ms, node, rows[np.argsort(node[rows], kind="stable")], np.zeros(0, np.intp))
