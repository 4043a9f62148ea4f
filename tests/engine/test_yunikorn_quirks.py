"""Every departure of YuniKorn from its own design changes an answer, and what it changes is told."""

from pathlib import Path

import pytest

from engine.policies.yunikorn import ALL, Quirk, Quirks, decide, effects, enforce, quota_effects
from engine.policies.yunikorn.quirks.effects import QuirkEffect
from tests.builders import victims_of
from tests.engine.yunikorn_pictures import picture
from tests.engine.yunikorn_scenarios import SCENARIOS, Scenario

DOCUMENT = Path(__file__).parents[2] / "docs" / "policies" / "yunikorn.md"
SHOWN = [pytest.param(quirk, SCENARIOS[quirk], id=str(quirk)) for quirk in Quirk]


def goes(scenario: Scenario, quirks: Quirks) -> list[str]:
    """The names of those who go, sorted."""
    at = scenario.snapshot()
    if not at.asks:
        return sorted(pod.name for one in enforce(at, scenario.tree, quirks) for pod in one.victims)
    return victims_of(decide(at, scenario.tree, at.asks[0], quirks=quirks))


def told(scenario: Scenario) -> dict[Quirk, QuirkEffect]:
    """The departures that changed the answer."""
    at = scenario.snapshot()
    if not at.asks:
        return {one.quirk: one for one in quota_effects(at, scenario.tree)}
    (asker,) = at.asks
    return {one.quirk: one for one in effects(at, scenario.tree, asker, decide(at, scenario.tree, asker))}


@pytest.mark.parametrize(("quirk", "scenario"), SHOWN)
def test_it_decides_otherwise_without_the_quirk(quirk: Quirk, scenario: Scenario) -> None:
    """Turned off alone, as the documentation shows it."""
    assert goes(scenario, ALL) == sorted(scenario.theirs)
    assert goes(scenario, ALL.without(quirk)) == sorted(scenario.without)


@pytest.mark.parametrize(("quirk", "scenario"), SHOWN)
def test_what_a_quirk_changed_is_told(quirk: Quirk, scenario: Scenario) -> None:
    """With those who would have gone."""
    assert sorted(key.rpartition("/")[2] for key in told(scenario)[quirk].victims) == sorted(scenario.without)


@pytest.mark.parametrize(("quirk", "scenario"), SHOWN)
def test_the_documentation_shows_it(quirk: Quirk, scenario: Scenario) -> None:
    """In the table, and with this very picture."""
    text = DOCUMENT.read_text()
    assert f"| [`{quirk}`](#{quirk}) |" in text
    section = text.partition(f"### {quirk}\n")[2].partition("\n##")[0]
    assert f"```text\n{picture(scenario)}\n```" in section
