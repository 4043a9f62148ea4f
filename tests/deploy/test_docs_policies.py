"""The tables of invariants in docs/policies say what the code registers, and links to headings have their headings."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from engine.audit import Invariant, audit
from engine.explain import number
from engine.explain.decision.invariants import rejection_text, sort_checks
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
    ("cohort", "kueue"): ("cohort.md", "The invariants"),
    ("fair-share", "kueue"): ("cohort.md", "The invariants"),
    ("deserved", "arbitrator"): ("deserved.md", "The invariants"),
    ("deserved", "volcano"): ("deserved.md", "Dialect `volcano`"),
}
"""Policy and dialect -> the file in docs/policies, and the heading under which its table of invariants is."""
EACH = [pytest.param(policy, id=f"{policy.name}-{policy.dialect}") for policy in policies()]

Row = tuple[int | None, str]
"""The number of an invariant, None without one, and its name."""


def documented(policy: Policy) -> list[Row]:
    """Return the rows of a policy's table of invariants."""
    file, heading = TABLES[policy.name, policy.dialect]
    section = (DOCS / "policies" / file).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| (?:(\d+|–) \| )?`([\w-]+)` \| .+ \|$", section.split("\n### ")[0], re.MULTILINE)
    tabled = [(first, name) for first, name in found if name in set(Invariant)]
    return [(int(first) if first.isdigit() else None, name) for first, name in tabled]


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
    return [check.law for check in sort_checks(audit(at, queues, preempting), policy.name)]


def shown(which: Invariant, policy: Policy) -> int | None:
    """Return the number by which pages name an invariant: in the list of a decision, or where one was refused."""
    refusal = re.search(r"\b(\d+):", rejection_text(which, policy.name).id)
    numbers = {number(which, policy.name), int(refusal[1]) if refusal else None} - {None}
    assert len(numbers) <= 1
    return next(iter(numbers), None)


@pytest.mark.parametrize("policy", EACH)
def test_every_invariant_is_in_the_table(policy: Policy) -> None:
    """With the number and in the order that pages have, so that a reader of "7" finds number 7."""
    assert documented(policy) == [(shown(which, policy), str(which)) for which in checked(policy)]


def test_the_numbers_mean_the_same_everywhere() -> None:
    """No number belongs to two invariants, whichever policy shows it; there are eight."""
    numbered = {row for policy in policies() for row in documented(policy) if row[0] is not None}
    assert sorted(first for first, _ in numbered if first) == list(range(1, 9))


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
