"""Every policy is one object of the registry, which says all of it; an unknown one is an error everywhere."""

import msgspec
import pytest

from engine.analysis.pending_reasons import judges
from engine.explain.decision.policy_texts import words
from engine.model.decision import BY_QUOTA
from engine.policies import (
    DIALECTS,
    POLICIES,
    Policy,
    UnknownPolicyError,
    enforceable,
    guarded,
    parameters_of,
    policy,
    reach_of,
    within_quotas,
)

DECIDING = [one for one in POLICIES if one.decider is not None]


def test_no_field_of_a_policy_has_a_default() -> None:
    """Whoever adds one has thought of each."""
    assert [field.name for field in msgspec.structs.fields(Policy) if not field.required] == []


@pytest.mark.parametrize("one", POLICIES, ids=lambda one: f"{one.name}/{one.dialect}")
def test_one_that_decides_has_parameters_and_one_that_only_explains_has_none(one: Policy) -> None:
    assert (one.decider is None) is (one.parameters is None)
    assert one.foreign or one.decider is not None


@pytest.mark.parametrize("one", DECIDING, ids=lambda one: f"{one.name}/{one.dialect}")
def test_whatever_names_policies_beside_the_registry_knows_each(one: Policy) -> None:
    """Why work waits under it, and its words."""
    assert judges(one.name, one.dialect)
    assert words(one.name)
    assert (one.name in BY_QUOTA) is one.by_quota


def test_dialects_are_those_that_decide_in_their_order() -> None:
    assert DIALECTS == {
        "fence": ("design", "yunikorn"),
        "priority": ("kube-scheduler",),
        "cohort": ("kueue",),
        "fair-share": ("kueue",),
        "deserved": ("arbitrator",),
    }


@pytest.mark.parametrize(("name", "dialect"), [("luck", "design"), ("fence", "luck"), ("", "")])
def test_an_unknown_policy_is_an_error_everywhere(name: str, dialect: str) -> None:
    """It is taken for no other one."""
    assert parameters_of(name, dialect) == ()
    for ask in (enforceable, within_quotas, policy):
        with pytest.raises(UnknownPolicyError):
            ask(name, dialect)
    with pytest.raises(UnknownPolicyError):
        guarded(name, dialect, acting=True)


def test_nor_has_it_words_or_reach_of_another() -> None:
    with pytest.raises(UnknownPolicyError):
        reach_of("luck", {})
    with pytest.raises(KeyError):
        words("luck")


def test_a_dialect_that_only_explains_decides_nothing() -> None:
    with pytest.raises(UnknownPolicyError, match="the dialect of policy deserved is arbitrator, not volcano"):
        policy("deserved", "volcano")
