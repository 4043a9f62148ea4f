"""Beside the real kube-scheduler, a gang gets the room that is made for it, or what it cost in vain is counted.

A contest of those that docs/holding-the-room.md tells of. ``GANGS`` sets how many decisions it takes.
"""

import os
from functools import partial
from pathlib import Path

import pytest

from tests.controlplane import binaries
from tests.enforce.contest_ground import RealGround
from tests.enforce.gangs.contest import contest
from tests.enforce.gangs.result import GangResult
from tests.enforce.gangs.scene import GangScene

DECISIONS = int(os.environ.get("GANGS", "100"))
CALM = 20
RELEASE = binaries.GROUPS_RELEASE


@pytest.fixture(scope="module")
def built() -> None:
    """What the control plane with groups of pods is run from."""
    what = "a control plane with groups of pods"
    binaries.provide(what, lambda: not binaries.missing(RELEASE), partial(binaries.build, RELEASE))


def fight(folder: Path, scene: GangScene, decisions: int) -> GangResult:
    with RealGround.opened(folder / "cluster", scene.documents(), release=RELEASE) as ground:
        return contest(ground, folder / "product", scene, decisions=decisions, seed=1)


@pytest.mark.controlplane
@pytest.mark.suite("contest")
def test_what_gangs_cost_in_vain_is_counted(built: None, tmp_path: Path) -> None:
    """While pods of gangs and nodes vanish: every decision ends, and leaves nothing behind."""
    result = fight(tmp_path, GangScene(), DECISIONS)
    assert result.troubles == {}, result
    assert result.decisions >= DECISIONS
    assert result.endings["bound"] >= DECISIONS // 3
    assert result.in_vain > 0


@pytest.mark.controlplane
@pytest.mark.suite("contest")
def test_every_gang_has_the_room_that_was_made_for_it(built: None, tmp_path: Path) -> None:
    """As long as nothing vanishes, whoever else wants it."""
    result = fight(tmp_path, GangScene(faults=0), CALM)
    assert result.troubles == {}, result
    assert result.endings == {"bound": result.decisions}, result
    assert result.in_vain == 0
