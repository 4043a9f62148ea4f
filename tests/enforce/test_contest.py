"""Beside a scheduler that gives room to whoever comes first, the ask has the room that is made for it.

A small contest of those that docs/holding-the-room.md tells of.
"""

from pathlib import Path

import pytest

from engine.cluster.acting.outcomes import ReservationMethod
from tests.enforce.contest import contest
from tests.enforce.contest_ground import RealGround, SimulatedGround
from tests.enforce.contest_result import Result
from tests.enforce.contest_scene import Scene

WAVES_OF_TWELVE = 24
SMALL = Scene(nodes=8, asks=5, crowd=3)


def fight(
    opened: type[RealGround] | type[SimulatedGround],
    folder: Path,
    scene: Scene,
    *,
    kept_by: ReservationMethod,
    decisions: int,
) -> Result:
    with opened.opened(folder / "cluster", scene.documents()) as ground:
        return contest(ground, folder / "product", scene, kept_by=kept_by, decisions=decisions, seed=1)


def adds_up(result: Result) -> bool:
    """Whether whatever was evicted is in our books, once, and nothing of ours is left behind."""
    return not (result.unaccounted or result.imagined or result.twice or result.open or result.kept)


@pytest.mark.controlplane
@pytest.mark.suite("contest")
def test_every_ask_has_the_room_that_was_made_for_it(built: None, tmp_path: Path) -> None:
    """Beside the real kube-scheduler, from one victim to four, whose ReplicaSets want the room back."""
    result = fight(RealGround, tmp_path, Scene(), kept_by=ReservationMethod.TAINT, decisions=WAVES_OF_TWELVE)
    assert adds_up(result), result
    assert result.decisions >= WAVES_OF_TWELVE
    assert result.endings == {"bound": result.decisions}, result
    assert result.in_vain == 0


@pytest.mark.e2e
def test_the_simulated_scheduler_is_kept_out_as_the_real_one_is(tmp_path: Path) -> None:
    """What other tests and the demo say of held room rests on it."""
    result = fight(SimulatedGround, tmp_path, SMALL, kept_by=ReservationMethod.TAINT, decisions=10)
    assert adds_up(result), result
    assert result.endings == {"bound": result.decisions}, result


@pytest.mark.e2e
def test_the_simulated_scheduler_gives_room_away_that_is_not_kept(tmp_path: Path) -> None:
    """Else a contest there would show nothing. What was evicted in vain is in our books all the same."""
    result = fight(SimulatedGround, tmp_path, SMALL, kept_by=ReservationMethod.NONE, decisions=5)
    assert adds_up(result), result
    assert result.share < 0.9
    assert result.in_vain > 0
