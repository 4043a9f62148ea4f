"""One product for all tests of the session; each test brings its own cluster."""

from collections.abc import Iterator

import pytest

from tests.e2e.product import Product


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The running product: Redis, web server, engine worker and beat as processes of their own."""
    running = Product(tmp_path_factory.mktemp("product"))
    try:
        running.start()
        yield running
    finally:
        running.stop()
