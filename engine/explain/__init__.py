"""Explains decisions in words: typed message ids with parameters, whole sentences, every rejection with its numbers.

Nothing here translates: a Message is rendered where the reader's language is known.
"""

from engine.explain.anomalies import anomaly_sentence, wasted_preemption
from engine.explain.change_texts import change_sentence, optimal_messages, proposed_decision
from engine.explain.decision.deserved import notices
from engine.explain.decision.groups import unit_verdict
from engine.explain.decision.holds import hold_heading, hold_sentence
from engine.explain.decision.invariants import (
    broken_invariant_text,
    invariant_text,
    lines,
    rejection_text,
    sort_checks,
)
from engine.explain.decision.quirks import quirk_messages
from engine.explain.decision.quota import shares
from engine.explain.decision.reasons import label, reason, scheduler_message
from engine.explain.decision.sentence import Tense, preemptor_sentence, sentence, stopped_sentence, victim_sentence
from engine.explain.decision.shares import queue_share_sentence, share_sentence
from engine.explain.decision.verdicts import (
    allowed,
    held_back,
    hold_message,
    node_label,
    node_verdict,
    pod_label,
    pod_verdict,
)
from engine.explain.group_wording import for_group
from engine.explain.observed.evictions import (
    FLAG_LABELS,
    observed_causes,
    observed_flags,
    observed_preemptor,
    observed_reason,
    observed_sentence,
    observed_verdict,
    observed_victim,
)
from engine.explain.observed.replacements import (
    grace,
    lost_work_sentence,
    odd_checkpoint,
    repeated_preemptions,
    replacement_sentence,
)
from engine.explain.observed.replay import no_counterfactuals_reason, quirk_effects, replay_lines
from engine.explain.pending.remedies import remedy_sentence
from engine.explain.pending.shares import staying_pods
from engine.explain.pending.tiers import all_remedies, pods_ahead, rejecting_nodes, tier_label, tier_sentence
from engine.explain.pending.workloads import workloads_ahead
from engine.explain.reach import border_clause, border_label, conditions
from engine.explain.remedies import remedies
from engine.model.message import Cores, Message, Name, Param, Timestamp

__all__ = [
    "FLAG_LABELS",
    "Cores",
    "Message",
    "Name",
    "Param",
    "Tense",
    "Timestamp",
    "all_remedies",
    "allowed",
    "anomaly_sentence",
    "border_clause",
    "border_label",
    "broken_invariant_text",
    "change_sentence",
    "conditions",
    "for_group",
    "grace",
    "held_back",
    "hold_heading",
    "hold_message",
    "hold_sentence",
    "invariant_text",
    "label",
    "lines",
    "lost_work_sentence",
    "no_counterfactuals_reason",
    "node_label",
    "node_verdict",
    "notices",
    "observed_causes",
    "observed_flags",
    "observed_preemptor",
    "observed_reason",
    "observed_sentence",
    "observed_verdict",
    "observed_victim",
    "odd_checkpoint",
    "optimal_messages",
    "pod_label",
    "pod_verdict",
    "pods_ahead",
    "preemptor_sentence",
    "proposed_decision",
    "queue_share_sentence",
    "quirk_effects",
    "quirk_messages",
    "reason",
    "rejecting_nodes",
    "rejection_text",
    "remedies",
    "remedy_sentence",
    "repeated_preemptions",
    "replacement_sentence",
    "replay_lines",
    "scheduler_message",
    "sentence",
    "share_sentence",
    "shares",
    "sort_checks",
    "staying_pods",
    "stopped_sentence",
    "tier_label",
    "tier_sentence",
    "unit_verdict",
    "victim_sentence",
    "wasted_preemption",
    "workloads_ahead",
]
