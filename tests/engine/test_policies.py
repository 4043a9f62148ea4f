"""Every policy is one object of the registry, which says all of it; an unknown one is an error everywhere."""

from collections.abc import Iterator

import msgspec
import pytest

from engine.analysis.counterfactuals import Again, counterfactuals
from engine.analysis.pending_reasons import explains
from engine.audit import audit, failed_checks
from engine.explain import pod_label, reason, sentence
from engine.explain.decision.sentence import Tense
from engine.model.decision import BY_QUOTA, Decision, Outcome, PodReason
from engine.planning.scheduling_pass import plan
from engine.policies import (
    Policy,
    UnknownPolicyError,
    audit_terms,
    find,
    first_of,
    guarded,
    is_enforceable,
    known_dialects,
    lint_rules,
    parameters_of,
    policies,
    policy,
    reach_of,
    register,
    registered,
    texts_of,
    within_quotas,
)
from engine.tree.lint import LintRules, errors, lint
from tests.builders import ask, named, node, pod, queue, snapshot, tree, victims_of
from tests.engine.fifo import FIFO

DECIDING = [one for one in policies() if one.decider is not None]


def test_no_field_of_a_policy_has_a_default() -> None:
    """Whoever adds one has thought of each."""
    assert [field.name for field in msgspec.structs.fields(Policy) if not field.required] == []


@pytest.mark.parametrize("one", policies(), ids=lambda one: f"{one.name}/{one.dialect}")
def test_one_that_decides_has_parameters_and_one_that_only_explains_has_none(one: Policy) -> None:
    assert (one.decider is None) is (one.parameters is None)
    assert one.foreign or one.decider is not None


@pytest.mark.parametrize("one", DECIDING, ids=lambda one: f"{one.name}/{one.dialect}")
def test_one_that_decides_explains_why_pods_are_pending_and_what_would_have_changed_it(one: Policy) -> None:
    assert explains(one.name, one.dialect)
    assert one.counterfactuals is not None
    assert (one.name in BY_QUOTA) is one.by_quota


def test_dialects_are_those_that_decide_in_their_order() -> None:
    assert known_dialects() == {
        "fence": ("design", "yunikorn"),
        "priority": ("kube-scheduler", "kube-scheduler-1.37"),
        "cohort": ("kueue",),
        "fair-share": ("kueue",),
        "deserved": ("arbitrator",),
    }


@pytest.mark.parametrize(("name", "dialect"), [("luck", "design"), ("fence", "luck"), ("", "")])
def test_an_unknown_policy_is_an_error_everywhere(name: str, dialect: str) -> None:
    """It is taken for no other one."""
    assert parameters_of(name, dialect) == ()
    for look_up in (is_enforceable, within_quotas, policy):
        with pytest.raises(UnknownPolicyError):
            look_up(name, dialect)
    with pytest.raises(UnknownPolicyError):
        guarded(name, dialect, acting=True)


def test_nor_has_it_words_or_reach_of_another() -> None:
    with pytest.raises(UnknownPolicyError):
        reach_of("luck", {})
    with pytest.raises(UnknownPolicyError):
        texts_of("luck")
    assert not explains("luck", "design")


def test_lint_checks_no_policy_s_rules_for_an_unknown_one() -> None:
    """What is wrong whatever decides is found still."""
    given = tree({"a": queue(4, max=2), "b": queue(namespaces=("n",)), "c": queue(namespaces=("n",))})
    assert errors(given, lint_rules("fence", "design")) != ()
    assert errors(given, lint_rules("luck", "design")) == ()
    assert {note.field for note in lint(given, lint_rules("luck", "design"))} == {"namespaces/0"}


def test_every_policy_by_which_trees_are_published_says_what_lint_checks() -> None:
    assert {one.name for one in DECIDING} == {one.lint.policy for one in policies() if one.lint is not None}
    assert not any(field.default is not msgspec.NODEFAULT for field in msgspec.structs.fields(LintRules))


@pytest.mark.parametrize("one", policies(), ids=lambda one: f"{one.name}/{one.dialect}")
def test_what_a_policy_has_no_use_for_is_none_and_only_there(one: Policy) -> None:
    """A field that is missing by mistake would be None too: here is written which may be."""
    missing = {name for name in msgspec.structs.asdict(one) if getattr(one, name) is None}
    allowed = {
        "fence/design": {"shares"},
        "fence/yunikorn": {"optimum", "shares"},
        "priority/kube-scheduler": {"shares"},
        "priority/kube-scheduler-1.37": {"optimum", "shares"},
        "cohort/kueue": {"optimum", "shares"},
        "fair-share/kueue": {"optimum"},
        "deserved/arbitrator": {"optimum"},
        "deserved/volcano": {"parameters", "decider", "lint", "pending_tiers", "counterfactuals", "optimum", "shares"},
    }
    assert missing == allowed[f"{one.name}/{one.dialect}"]


def test_a_dialect_that_only_explains_decides_nothing() -> None:
    with pytest.raises(UnknownPolicyError, match=r"Policy deserved has no dialect volcano\. Use arbitrator"):
        policy("deserved", "volcano")


class TestASixthPolicy:
    """It is registered, and nothing else: whatever looks a policy up knows it."""

    AT = snapshot(
        tree({"a": queue(), "b": queue()}),
        node("n1", 4),
        pod("old", queue="a", node="n1", cpu=2, started_ms=1_000),
        pod("young", queue="a", node="n1", cpu=2, started_ms=2_000),
        ask("first", queue="b", cpu=2, priority=5, created_ms=3_000),
        ask("second", queue="b", cpu=2, priority=9, created_ms=4_000),
    )

    @pytest.fixture(autouse=True)
    def _registered(self) -> Iterator[None]:
        with registered(FIFO):
            yield

    def decided(self, name: str) -> Decision:
        return policy("fifo", "plain")(self.AT, self.AT.tree, named(self.AT, name))

    def test_it_is_known_everywhere(self) -> None:
        assert known_dialects()["fifo"] == ("plain",)
        assert find("fifo", "plain") is FIFO
        assert first_of("fifo") is FIFO
        assert is_enforceable("fifo", "plain")
        assert not guarded("fifo", "plain", acting=False)
        assert [one.name for one in parameters_of("fifo", "plain")] == ["strict"]
        assert reach_of("fifo", {}).policy == "priority"

    def test_its_decisions_keep_their_invariants(self) -> None:
        decision = self.decided("first")
        assert victims_of(decision) == ["young"]
        assert not failed_checks(audit(self.AT, self.AT.tree, decision, terms=audit_terms("fifo", "plain", {})))

    def test_a_victim_that_is_not_lower_is_found_by_the_audit(self) -> None:
        decision = self.decided("first")
        lower = msgspec.structs.replace(self.AT, pods=tuple(one for one in self.AT.pods))
        pods = tuple(msgspec.structs.replace(one, priority=7) if one.name == "young" else one for one in lower.pods)
        assert failed_checks(audit(msgspec.structs.replace(self.AT, pods=pods), self.AT.tree, decision))

    def test_it_explains_itself_in_its_own_words_and_in_the_general_ones(self) -> None:
        assert reason(self.decided("first")).id == "It waits longest, so the youngest pods make room."
        assert pod_label(PodReason.LOWER_PRIORITY, "fifo").id == "youngest"
        assert "first" in str(sentence(self.decided("first"), Tense.WOULD).params)

    def test_what_would_have_changed_its_decision_is_decided_by_it_again(self) -> None:
        again = Again(self.AT, self.AT.tree, named(self.AT, "first"), policy("fifo", "plain"))
        assert counterfactuals(again, self.decided("first")) == ()

    def test_a_pass_plans_by_it(self) -> None:
        planned = plan(self.AT, self.AT.tree, policy("fifo", "plain"), terms=audit_terms("fifo", "plain", {}))
        assert [one.decision.outcome for one in planned] == [Outcome.NOT_ELIGIBLE, Outcome.PREEMPT]

    def test_it_is_forgotten_afterwards(self) -> None:
        with pytest.raises(ValueError, match="already registered"):
            register(FIFO)
