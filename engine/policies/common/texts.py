"""The texts that differ from policy to policy: message ids, translated where they are shown."""

from collections.abc import Mapping

import msgspec

from engine.audit import Invariant
from engine.model.decision import PodReason, Reason


class PolicyTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of one policy; where a mapping lacks a key, the general text of engine.explain is shown."""

    summary: str
    """What the policy decides, in a sentence for people who choose one."""
    dialect: str
    """What its dialect is, in a sentence for people who choose one."""
    reach: str
    """What else, besides the tree, decides whether an open border is used."""
    reasons: Mapping[Reason, str]
    pod_labels: Mapping[PodReason, str]
    pods: Mapping[PodReason, str]
    laws: Mapping[Invariant, str]
    broken: Mapping[Invariant, str]
