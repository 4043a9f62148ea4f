"""One product for all tests of the session; each test brings its own cluster."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.product import Product

if TYPE_CHECKING:
    from pluggy import Result


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The running product: Redis, web server, engine worker and beat as processes of their own."""
    running = Product(tmp_path_factory.mktemp("product"))
    try:
        running.start()
        yield running
    finally:
        running.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Beside what went wrong, what the product's processes say of it."""
    outcome: Result[pytest.TestReport] = yield
    report, product = outcome.get_result(), getattr(item, "funcargs", {}).get("product")
    if report.failed and isinstance(product, Product):
        report.sections += list(product.last_words().items())
