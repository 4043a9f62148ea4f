"""The tables of invariants in docs/policies say what the code registers, and links to headings have their headings."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from engine.audit import Invariant, audit
from engine.explain import broken_invariant_text, invariant_text, rejection_text, sort_checks
from engine.explain.decision.invariants import AGAINST
from engine.model.decision import Decision, Outcome, PodFacts, Reason
from engine.model.snapshot import Safeguards
from engine.policies.common.policy import Policy
from engine.policies.registry import policies
from tests.builders import ask, node, queue, snapshot, tree
from tests.deploy.test_compose import BASE
from tests.deploy.test_docs import DOCUMENTS, name

DOCS = BASE / "docs"
TABLES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("fence", "design"): ("fence.md", "The invariants"),
    ("fence", "yunikorn"): ("yunikorn.md", "The invariants"),
    ("priority", "kube-scheduler"): ("priority.md", "The invariants"),
    ("priority", "kube-scheduler-1.37"): ("priority.md", "Dialect `kube-scheduler-1.37`: groups of pods"),
    ("cohort", "kueue"): ("cohort.md", "The invariants"),
    ("fair-share", "kueue"): ("cohort.md", "The invariants"),
    ("deserved", "arbitrator"): ("deserved.md", "The invariants"),
    ("deserved", "volcano"): ("deserved.md", "Dialect `volcano`"),
}
"""Policy and dialect -> the file in docs/policies, and the heading under which its table of invariants is."""
EACH = [pytest.param(policy, id=f"{policy.name}-{policy.dialect}") for policy in policies()]


def documented(policy: Policy) -> list[str]:
    """Return the names in a policy's table of invariants."""
    file, heading = TABLES[policy.name, policy.dialect]
    section = (DOCS / "policies" / file).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| `([\w-]+)` \| .+ \|$", section.split("\n### ")[0], re.MULTILINE)
    return [name for name in found if name in set(Invariant)]


def checked(policy: Policy) -> list[Invariant]:
    """Return every invariant of a policy in the order of the page Decision; with those of safeguards, where it acts."""
    queues, pending = tree({"a": queue("4")}), ask("x", queue="a")
    given = Safeguards(queues=("root.a",)) if policy.enforceable else None
    at = msgspec.structs.replace(snapshot(queues, [node("n1", 4)], [pending]), safeguards=given)
    preempting = Decision(
        policy=policy.name,
        dialect=policy.dialect,
        ask=PodFacts.of(pending),
        outcome=Outcome.PREEMPT,
        reason=Reason.BELOW_GUARANTEE,
        node="n1",
    )
    return [check.law for check in sort_checks(audit(at, queues, preempting))]


@pytest.mark.parametrize("policy", EACH)
def test_every_invariant_is_in_the_table(policy: Policy) -> None:
    """The table of a policy has its invariants in the order that pages have."""
    assert documented(policy) == [str(which) for which in checked(policy)]


@pytest.mark.parametrize("policy", EACH)
def test_no_page_names_an_invariant_by_a_number(policy: Policy) -> None:
    """Neither in the list of a decision, nor where one was rejected or broken: tables have no numbers to look up."""
    for which in checked(policy):
        shown = [invariant_text(which, policy.name), rejection_text(which, policy.name)]
        shown += [broken_invariant_text(which)] if which in AGAINST else []
        assert [message.id for message in shown if re.search(r"\d", message.id)] == []


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_to_headings_have_their_headings(path: Path) -> None:
    """In every document, also within it."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", path.read_text(encoding="utf-8")):
        assert anchor in anchors(path.parent / target if target else path), f"{target}#{anchor}"
