"""Where a policy has other words than ``fence``."""

from collections.abc import Mapping
from typing import NamedTuple

from engine.audit import Law
from engine.explain.decision import deserved, priority, quota
from engine.model.decision import BY_QUOTA, PodReason, Reason


class PolicyTexts(NamedTuple):
    """Each in place of that of ``fence``."""

    reasons: Mapping[Reason, str] = {}
    pod_labels: Mapping[PodReason, str] = {}
    pods: Mapping[PodReason, str] = {}
    laws: Mapping[Law, str] = {}
    broken: Mapping[Law, str] = {}
    counts_laws: bool = False
    """Whether its laws have the numbers that the design gives them."""


_PRIORITY = PolicyTexts(priority.REASONS, priority.POD_LABELS, priority.POD_SENTENCES, priority.LAWS, priority.BROKEN)
_QUOTA = PolicyTexts(quota.REASONS, quota.POD_LABELS, quota.POD_SENTENCES, quota.LAWS, quota.BROKEN)
_DESERVED = PolicyTexts({}, deserved.POD_LABELS, deserved.POD_SENTENCES, deserved.LAWS, deserved.BROKEN)
_FENCE = PolicyTexts(counts_laws=True)
_BY_POLICY = {
    "fence": _FENCE,
    "priority": _PRIORITY,
    "deserved": _DESERVED,
    **dict.fromkeys(BY_QUOTA, _QUOTA),
}


def words(policy: str) -> PolicyTexts:
    """Return those of a policy. Raises KeyError for a policy without any."""
    return _BY_POLICY[policy]
