"""Explains decisions in words: typed message ids with parameters, whole sentences, every rejection with its numbers.

Nothing here translates: a Message is rendered where the reader's language is known.
"""

from engine.explain.anomalies import in_vain, trouble
from engine.explain.change_texts import least, otherwise, supposed
from engine.explain.decision.deserved import notices
from engine.explain.decision.holds import hold_heading, hold_sentence
from engine.explain.decision.invariants import against, in_order, law, lines, number, unmet
from engine.explain.decision.quirks import quirk
from engine.explain.decision.quota import shares
from engine.explain.decision.reasons import label, reason, scheduler_says
from engine.explain.decision.sentence import Tense, asker_sentence, sentence, victim_sentence
from engine.explain.decision.shares import share_sentence
from engine.explain.decision.verdicts import (
    allowed,
    held_back,
    interlock,
    node_label,
    node_verdict,
    pod_label,
    pod_verdict,
)
from engine.explain.observed.evictions import (
    FLAG_LABELS,
    observed_asker,
    observed_because,
    observed_flags,
    observed_reason,
    observed_sentence,
    observed_victim,
    taken_verdict,
)
from engine.explain.observed.replacements import again, grace, in_its_place, odd_checkpoint, thrown_away
from engine.explain.observed.replay import departures, hindsight_lines, unspared
from engine.explain.pending.remedies import remedy_sentence
from engine.explain.pending.shares import staying_pods
from engine.explain.pending.tiers import asks_ahead, refused_nodes, tier_label, tier_sentence, together
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
    "again",
    "against",
    "allowed",
    "asker_sentence",
    "asks_ahead",
    "border_clause",
    "border_label",
    "conditions",
    "departures",
    "grace",
    "held_back",
    "hindsight_lines",
    "hold_heading",
    "hold_sentence",
    "in_its_place",
    "in_order",
    "in_vain",
    "interlock",
    "label",
    "law",
    "least",
    "lines",
    "node_label",
    "node_verdict",
    "notices",
    "number",
    "observed_asker",
    "observed_because",
    "observed_flags",
    "observed_reason",
    "observed_sentence",
    "observed_victim",
    "odd_checkpoint",
    "otherwise",
    "pod_label",
    "pod_verdict",
    "quirk",
    "reason",
    "refused_nodes",
    "remedies",
    "remedy_sentence",
    "scheduler_says",
    "sentence",
    "share_sentence",
    "shares",
    "staying_pods",
    "supposed",
    "taken_verdict",
    "thrown_away",
    "tier_label",
    "tier_sentence",
    "together",
    "trouble",
    "unmet",
    "unspared",
    "victim_sentence",
    "workloads_ahead",
]
