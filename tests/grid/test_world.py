"""The world that every address is tried in."""

import pytest

from tests.grid.conftest import World
from tests.upgrading import unknown_values

pytestmark = pytest.mark.django_db


def test_it_holds_only_values_that_the_product_stores(world: World) -> None:
    """Each is one of its column's choices: what a page or an answer says of another one proves nothing."""
    assert unknown_values() == {}
