"""Rules by the labels of namespaces, where nobody knows those of one: who depends on them is left alone."""

from collections.abc import Collection

import msgspec

from engine.snapshot.objects import Pod
from engine.snapshot.rules import AffinityTerm

NAMESPACE_SELECTOR = "namespaceSelector"


def unjudged(pods: list[Pod], known: Collection[str]) -> list[Pod]:
    """The same pods; asks say so whose rules, or those of others about them, can't be judged without ``known`` more."""
    unknown = {pod.namespace for pod in pods}.difference(known)
    if not unknown:
        return pods
    keeping = [term for pod in pods for term in pod.anti_affinity if _by_labels(term)]
    return [_said(pod) if pod.node is None and _depends(pod, unknown, keeping) else pod for pod in pods]


def _depends(ask: Pod, unknown: set[str], keeping: Collection[AffinityTerm]) -> bool:
    own = (term for term in (*ask.affinity, *ask.anti_affinity) if _by_labels(term))
    if any(not unknown.issubset(term.namespaces) for term in own):
        return True
    return ask.namespace in unknown and any(ask.namespace not in term.namespaces for term in keeping)


def _by_labels(term: AffinityTerm) -> bool:
    """Whether it takes the labels of a namespace to judge it; an empty selector meets every one."""
    return bool(term.namespace_selector)


def _said(ask: Pod) -> Pod:
    return msgspec.structs.replace(ask, unread_rules=(*ask.unread_rules, NAMESPACE_SELECTOR))
