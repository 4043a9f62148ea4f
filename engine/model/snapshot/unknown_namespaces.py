"""Marks pending pods whose placement depends on the unknown labels of a namespace, so that they are not decided."""

from collections.abc import Collection

import msgspec
import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.roster import Roster
from engine.model.objects.constraints import AffinityTerm
from engine.model.objects.kubernetes import Pod

NAMESPACE_SELECTOR = "namespaceSelector"


def mark_undecidable(roster: Roster, known: Collection[str]) -> Roster:
    """Return the roster with pending pods marked whose affinity rules can't be evaluated.

    These are rules by the labels of namespaces, of the pod or of other pods about it, where some labels are not
    ``known``.
    """
    unknown = {pod.namespace for pod in roster.coded(pod_fields.namespace).there}.difference(known)
    if not unknown:
        return roster
    apart = roster.coded(pod_fields.anti_affinity).there
    keeping = [term for pod in apart for term in pod.anti_affinity if _by_labels(term)]
    asks = np.flatnonzero(~roster.numbers(pod_fields.bound, np.bool_))
    said = {
        place: _said(pod)
        for place, pod in zip(asks.tolist(), roster.at(asks), strict=True)
        if _depends(pod, unknown, keeping)
    }
    return roster.swapped(np.array(list(said), np.intp), list(said.values()))


def _depends(ask: Pod, unknown: set[str], keeping: Collection[AffinityTerm]) -> bool:
    own = (term for term in (*ask.affinity, *ask.anti_affinity) if _by_labels(term))
    if any(not unknown.issubset(term.namespaces) for term in own):
        return True
    return ask.namespace in unknown and any(ask.namespace not in term.namespaces for term in keeping)


def _by_labels(term: AffinityTerm) -> bool:
    """Return whether the term needs the labels of a namespace; an empty selector matches every namespace."""
    return bool(term.namespace_selector)


def _said(ask: Pod) -> Pod:
    return msgspec.structs.replace(ask, unread_rules=(*ask.unread_rules, NAMESPACE_SELECTOR))
