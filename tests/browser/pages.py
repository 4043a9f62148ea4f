"""The pages there are, read off the URLconf: every address that answers GET and ends in a slash, as no file does."""

from tests.grid.addresses import Route
from tests.grid.rules import READ, rule_of

PARTS = frozenset(
    {"draft_news", "draft_forecast", "revision_forecast", "snapshot_forecast", "pod_waiting", "queue_usage_table"}
)
"""Addresses that a page asks for a part of itself, or whether there is news."""


def short(route: Route) -> str:
    """``web:queues`` -> ``queues``."""
    return route.name.removeprefix("web:")


def _is_page(route: Route) -> bool:
    answers = rule_of(route).answers["GET"]
    return 200 in (answers["anonymous"], answers["admin"]) and route.form.endswith("/")


PAGES = [route for route in READ if route.namespace == "web" and _is_page(route) and short(route) not in PARTS]
