"""A tree under which a cluster would never come to rest says so, with the queues, on pages and by REST."""

from datetime import UTC, datetime

import pytest

from engine.planning.forecast import Forecast, forecast
from scheduler_admin.accounts.scopes import EVERYTHING, Scope
from scheduler_admin.journal.selectors.forecasts import Outlook
from scheduler_admin.queues.api.outcomes import told as told_by_rest
from scheduler_admin.queues.api.tree_serializers import ForecastSerializer
from scheduler_admin.queues.presenters.forecasts import _ending
from tests.engine.test_forecast_loops import DESIGN, MOMENT, YUNIKORN, swapping

QUEUES = ["root.y.b", "root.x.b"]


@pytest.fixture
def looping() -> Forecast:
    """Two leaves that take one place from each other."""
    shape, state = swapping()
    return forecast(state, MOMENT, shape, YUNIKORN, foreign=True)


def test_a_person_reads_which_queues_take_from_each_other(looping: Forecast) -> None:
    """Instead of after how many passes it is quiet."""
    told = _ending(looping, EVERYTHING)
    names = told.removeprefix("Preemption would never settle: pods in ")
    assert sorted(names.removesuffix(" would preempt each other in an endless loop.").split(", ")) == sorted(QUEUES)


def test_who_sees_one_of_the_queues_reads_no_names(looping: Forecast) -> None:
    """That it never comes to rest is told all the same."""
    told = _ending(looping, Scope(subtrees=frozenset({"root.x"})))
    assert told == "Preemption would never settle: pods would preempt each other in an endless loop."


def test_a_pipeline_reads_them_too(looping: Forecast) -> None:
    """And null where there is no loop."""
    shape, state = swapping()
    quiet = forecast(state, MOMENT, shape, DESIGN)
    for found, loop in ((looping, True), (quiet, False)):
        at = datetime(2026, 1, 1, tzinfo=UTC)
        outlook = Outlook(at=at, present=quiet, proposed=found, tree=shape, other=shape)
        told = ForecastSerializer(told_by_rest(outlook, Scope(everything=True))).data
        assert told["stability"] == ("loop" if loop else "stable")
        assert (sorted(told["loop"]["queues"]) == sorted(QUEUES)) if loop else told["loop"] is None
