"""By how much less requested an ask would fit without any preemption: under policy ``fence``, by deciding again."""

from collections.abc import Iterator

from engine.analysis.counterfactuals.counterfactual import Counterfactual, Then
from engine.analysis.counterfactuals.decide_again import Again, least
from engine.model.change import Change
from engine.model.decision import Decision, Outcome
from engine.model.quantities import PODS


def by_smaller_request(again: Again) -> Iterator[Counterfactual]:
    """Of each resource alone."""
    for name, asked in sorted(again.ask.requests.items()):
        if name == PODS or asked <= 0:
            continue

        def decided(less: int, name: str = name, asked: int = asked) -> Decision:
            return again.ask_with(requests={**again.ask.requests, name: asked - less})

        found = least(0, asked - 1, decided, lambda one: one.outcome is Outcome.FITS, again.tries(), guess=0)
        if found is not None:
            yield Counterfactual.of(decided(found), Then.FITS, Change.REQUEST, smaller={name: found})
