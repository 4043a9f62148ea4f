"""The terms that pages use, each with its meaning. The English ones are also in docs/glossary.md."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Term:
    """A term: the anchor by which pages link to it, its name and what it means."""

    anchor: str
    name: Promise
    meaning: Promise


@dataclass(frozen=True)
class Section:
    """Terms that belong together."""

    title: Promise
    terms: tuple[Term, ...]


GLOSSARY = (
    Section(
        _("Queues"),
        (
            Term(
                "queue",
                _("queue, leaf queue, parent queue"),
                _("A node of the queue tree. Pods belong to leaf queues. A parent queue adds up what is below it."),
            ),
            Term(
                "guarantee",
                _("guarantee"),
                _("The amount of a resource that a queue can claim back, even if other queues use it now."),
            ),
            Term("max", _("max"), _("The most that a queue and all queues below it can use.")),
            Term(
                "borrowed",
                _("borrowed, lent"),
                _("A queue above its guarantee borrows what other queues do not use. Those queues lend it."),
            ),
            Term(
                "fence",
                _("fence"),
                _("A border around a queue. Pods inside it can preempt only other pods inside it."),
            ),
            Term(
                "deserved-share",
                _("deserved share"),
                _("A queue’s part of the cluster when the cluster is divided by weights and requests."),
            ),
            Term(
                "cohort",
                _("cohort"),
                _("A group of queues that lend each other quota, as in Kueue."),
            ),
            Term(
                "lendable",
                _("lendable"),
                _("The part of a guarantee that other queues can borrow."),
            ),
        ),
    ),
    Section(
        _("Preemption"),
        (
            Term("pending-pod", _("pending pod"), _("A pod that waits for room on a node, or for quota.")),
            Term(
                "preempt",
                _("preempt, evict"),
                _(
                    "To preempt a pod is to evict it to make room for another. Kubernetes ends an "
                    "evicted pod gracefully."
                ),
            ),
            Term("preemptor", _("preemptor"), _("The pending pod that other pods are evicted for.")),
            Term("victim", _("victim"), _("A pod that is evicted to make room, or would be.")),
            Term(
                "gang",
                _("gang"),
                _(
                    "A group of pods that start together or not at all: a PodGroup, or an application of YuniKorn with "
                    "task groups."
                ),
            ),
            Term("candidate", _("candidate"), _("A pod that the policy allows to preempt for a pending pod.")),
            Term("spared", _("spared"), _("A candidate that is not evicted because the other victims free enough.")),
            Term(
                "priority-class",
                _("priority class"),
                _("The Kubernetes object that gives a pod its priority and says whether it can preempt."),
            ),
            Term(
                "disruption-budget",
                _("disruption budget"),
                _(
                    "The Kubernetes object (PodDisruptionBudget) that limits how many pods of an "
                    "application can be evicted."
                ),
            ),
            Term(
                "policy",
                _("policy"),
                _("The rules by which decisions are made, such as fence or priority. A queue tree names its policy."),
            ),
            Term(
                "reservation",
                _("reservation"),
                _("A node that is kept free for a pending pod while its victims exit."),
            ),
            Term(
                "reclaim-notice",
                _("reclaim notice"),
                _("A warning to a queue above its deserved share, with a grace period to give back resources itself."),
            ),
            Term(
                "lost-work",
                _("lost work"),
                _("What a victim had computed since it started, or since its last checkpoint."),
            ),
            Term(
                "preemption-loop",
                _("preemption loop"),
                _("Applications that preempt each other again and again."),
            ),
        ),
    ),
    Section(
        _("Decisions"),
        (
            Term(
                "decision",
                _("decision"),
                _("The result for one pending pod: which pods are evicted for it, or why none are."),
            ),
            Term(
                "pass",
                _("pass"),
                _("One run of the engine over all pending pods of a cluster."),
            ),
            Term(
                "safety-check",
                _("safety check"),
                _(
                    "A rule that every decision must meet. Code that is independent of the policy "
                    "checks it before any eviction."
                ),
            ),
            Term(
                "safeguard",
                _("safeguard"),
                _("A limit that puts a decision on hold: a pause, an eviction window, a limit per minute, and others."),
            ),
            Term("on-hold", _("on hold"), _("A decision that waits until a safeguard allows it.")),
            Term("superseded", _("superseded"), _("A decision that a newer one replaced before any pod was evicted.")),
            Term(
                "dry-run",
                _("dry run"),
                _("A decision that is only shown. No pods are evicted."),
            ),
            Term(
                "mode",
                _("mode"),
                _(
                    "What the engine does in a cluster. Observe: it only records. Advise: it shows what it would do. "
                    "Enforce: it evicts pods."
                ),
            ),
            Term(
                "replay",
                _("replay"),
                _("A recorded decision or preemption, calculated again on the state of the cluster at that time."),
            ),
        ),
    ),
    Section(
        _("Changing queues"),
        (
            Term("hierarchy", _("hierarchy"), _("A named queue tree with all its drafts and revisions.")),
            Term(
                "draft",
                _("draft"),
                _("A copy of the queue tree that people edit. It has no effect until it is published."),
            ),
            Term("revision", _("revision"), _("A published queue tree. It never changes; a new one replaces it.")),
            Term(
                "forecast",
                _("forecast"),
                _("A calculation of which pods a changed queue tree would evict, on the current state of the cluster."),
            ),
            Term("snapshot", _("snapshot"), _("The stored state of a cluster at one moment.")),
        ),
    ),
)


TERMS_OF_PAGES = {
    "clusters": ("mode", "pass", "safeguard", "preemption-loop"),
    "queues": ("guarantee", "max", "borrowed", "fence"),
    "queue": ("guarantee", "borrowed", "fence", "pending-pod"),
    "nodes": ("reservation", "pass"),
    "node": ("reservation", "victim"),
    "fences": ("fence", "preemptor", "victim"),
    "history": ("decision", "preempt", "preemptor", "victim"),
    "decision": ("preemptor", "victim", "candidate", "spared", "safety-check"),
    "editor": ("draft", "revision", "forecast"),
    "draft": ("draft", "revision", "forecast"),
    "compare": ("policy", "replay", "lost-work"),
    "comparison": ("policy", "replay", "lost-work"),
    "snapshots": ("snapshot", "forecast"),
    "settings": ("mode", "safeguard", "on-hold"),
    "priority_classes": ("priority-class",),
    "pods": ("preempt", "pending-pod", "guarantee"),
    "pod": ("preempt", "pending-pod", "guarantee", "disruption-budget"),
    "ledger": ("lost-work", "preempt"),
}
"""Page -> the terms that its readers look up first, by their anchors."""


BY_SHARES = {"guarantee": "deserved-share"}
"""Term -> what pages speak of in its place where the cluster is divided by shares."""


def terms_of(page: str, *, by_shares: bool = False) -> list[Term]:
    """Return the terms that a page links to. ``by_shares``: whether the cluster is divided by shares."""
    known = {term.anchor: term for section in GLOSSARY for term in section.terms}
    anchors = TERMS_OF_PAGES.get(page, ())
    return [known[BY_SHARES.get(anchor, anchor) if by_shares else anchor] for anchor in anchors]
