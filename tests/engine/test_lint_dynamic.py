"""Queues that rules lead to or make, and the templates of those that they make."""

import pytest

from engine.model.placement_rules import NAMESPACE_TAG, PARENT_QUEUE_TAG, Rule, RuleName
from engine.model.queue_tree import PreemptionPolicy, Queue, Settings
from engine.tree.lint.dynamic import may_give
from tests.builders import amounts, queue
from tests.engine.linted import findings

PROVIDED = Rule(name=RuleName.PROVIDED)
TENANTS = Rule(name=RuleName.FIXED, value="root.tenants")
USERS = Rule(name=RuleName.USER, create=True, parent=TENANTS)
OTHERS = {"b": queue(1, namespaces=("x",)), "c": queue(1, namespaces=("y",))}
HOLDS = {"parent_declared": True}


def template(guaranteed: object = None, *, limit: object = None, fence: bool = False) -> Settings:
    """A template with these settings."""
    policy = PreemptionPolicy.FENCE if fence else PreemptionPolicy.DEFAULT
    return Settings(guaranteed=amounts(guaranteed), max=amounts(limit), preemption_policy=policy)


@pytest.mark.parametrize(
    ("rule", "path", "want"),
    [
        (PROVIDED, "root.a", True),
        (USERS, "root.tenants.ann", True),
        (USERS, "root.a", False),
        (Rule(name=RuleName.USER), "root.ann", True),
        (Rule(name=RuleName.USER), "root.tenants.ann", False),
        (TENANTS, "root.Tenants", True),
        (Rule(name=RuleName.FIXED, value="lab"), "root.lab", True),
        (Rule(name=RuleName.FIXED, value="lab", parent=TENANTS), "root.tenants.lab", True),
        (Rule(name=RuleName.FIXED, value="lab", parent=TENANTS), "root.lab", False),
        (Rule(name=RuleName.TAG, value=NAMESPACE_TAG, parent=TENANTS), "root.tenants.x", True),
        (Rule(name=RuleName.TAG, value=PARENT_QUEUE_TAG), "root.any.where", True),
        (Rule(name=RuleName.TAG, value="colour"), "root.red", False),
        (Rule(name=RuleName.USER, parent=Rule(name=RuleName.USER)), "root.ann.ann", True),
    ],
)
def test_which_queues_a_rule_may_give(rule: Rule, path: str, want: bool) -> None:
    """For some pod."""
    assert may_give(rule, path) is want


def test_a_leaf_to_which_nothing_leads_is_told() -> None:
    """By no rule, and by no namespace; root.default is where YuniKorn puts what nothing else gives."""
    queues = {"a": queue(1), "default": queue(1), "tenants": queue(**HOLDS), **OTHERS}
    lost = "warning root.a : No placement rule leads to it, and it claims no namespace, so no pod can run in it."
    assert findings(queues, None, USERS) == [lost]
    assert lost not in findings(queues, None, USERS, PROVIDED)
    assert lost not in findings(queues)


def test_a_queue_that_will_hold_queues_is_not_called_empty() -> None:
    """Rules fill it; without them nobody can."""
    queues = {"tenants": queue(1, **HOLDS), **OTHERS}
    empty = "warning root.tenants : It contains no queue, so no pod can run in it."
    assert empty in findings(queues)
    assert empty not in findings(queues, None, USERS)
    assert empty in findings(queues, None, Rule(name=RuleName.USER, parent=TENANTS))


@pytest.mark.parametrize(
    ("tenants", "finding"),
    [
        (
            queue(4, template=template(2), **HOLDS),
            None,
        ),
        (
            queue(template=template(2, limit=1), **HOLDS),
            (
                "guaranteed/cpu: Its template guarantees 2 cpu, above the template’s own max of "
                "1, so it can’t be fulfilled."
            ),
        ),
        (
            queue(max=1, template=template(2), **HOLDS),
            (
                "guaranteed/cpu: Its template guarantees 2 cpu, above the max of root.tenants, "
                "1, so it can’t be fulfilled."
            ),
        ),
        (
            queue(1, template=template(2), **HOLDS),
            (
                "guaranteed/cpu: Its template guarantees 2 cpu to each leaf queue, more than the "
                "queue’s own guarantee of 1."
            ),
        ),
        (
            queue(template=template(2, fence=True), **HOLDS),
            (
                "preemption_policy: Its template gives each leaf queue its own fence, so none of "
                "them can preempt. Their guarantees help only while room is free."
            ),
        ),
    ],
)
def test_a_template_that_contradicts_its_queue_is_told(tenants: Queue, finding: str | None) -> None:
    """At the setting of the template."""
    found = findings({"tenants": tenants, **OTHERS}, None, USERS)
    assert [one.partition(" root.tenants template/")[2] for one in found] == ([finding] if finding else [])


def test_a_template_that_is_never_used_is_told() -> None:
    """On a leaf, or where no rule makes queues."""
    on_leaf = findings({"a": queue(1, template=template(1)), **OTHERS})
    assert on_leaf == [
        (
            "warning root.a template: A template has no effect on a leaf queue: it applies "
            "to queues that are created below a queue."
        )
    ]
    unused = "warning root.tenants template: Its template has no effect: no placement rule creates queues below it."
    queues = {"tenants": queue(template=template(1)), "tenants.a": queue(1), **OTHERS}
    assert unused in findings(queues, None, PROVIDED)
    assert unused not in findings(queues, None, PROVIDED, USERS)


def test_a_template_inside_of_another_ones_reach_is_told() -> None:
    """Nothing of the outer one holds below the inner one."""
    queues = {"root": queue(template=template(1)), "tenants": queue(template=template(2), **HOLDS), **OTHERS}
    anybody = Rule(name=RuleName.PROVIDED, create=True)
    assert findings(queues, None, anybody) == [
        "info root.tenants template: Its template replaces that of root completely."
    ]
