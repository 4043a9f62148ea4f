"""Who gets what at which address: the table that every route needs a line in.

A new route: add its line to PAGES (``page_rules.py``) or API (``api_rules.py``). Does its address have a parameter of a
new name, add that to PARAMETERS; does it take a new word after the ``?``, add that to GUESSES. Then rewrite the counts:
``QUERIES=write pytest tests/grid``.
"""

import re
from itertools import pairwise

from tests.grid.addresses import Route, routes
from tests.grid.answers import READS, Rule
from tests.grid.api_rules import API
from tests.grid.page_rules import PAGES

ROUTES = {**PAGES, **API}
PARAMETERS = {
    "clusters/name": "cluster",
    "hierarchies/name": "hierarchy",
    "revisions/number": "revision",
    "pods/name": "cluster",
    "queues/path": "queue",
    "decisions/pk": "decision",
    "drafts/pk": "draft",
    "passes/pk": "run",
    "workloads/name": "cluster",
    "snapshots/pk": "snapshot",
    "saved/pk": "saved",
    "saved-filters/pk": "saved",
    "compare/pk": "comparison",
    "comparisons/pk": "comparison",
    "pauses/pk": "pause",
    "tokens/pk": "token",
    "audit/pk": "event",
    "tenants/name": "tenant",
    "tenants/pk": "tenant_number",
    "users/pk": "user",
    "service-accounts/pk": "service",
    "group-mappings/pk": "mapping",
    "workload-identities/pk": "workload_identity",
    "notifications/pk": "channel",
    "notification-channels/pk": "channel",
    "notifications/guid": "notification",
    "windows/pk": "window",
    "namespace": "namespace",
    "priority_class": "priority_class",
    "pod": "pod",
    "workload": "workload",
    "node": "node",
    "rest": "nothing",
    "form": "form",
}
"""A parameter of an address, after the word before it where there is one -> what it names, a field of sides.Side."""
GUESSES = {
    "queue": ("queue",),
    "namespace": ("namespace",),
    "application": ("application",),
    "pod": ("pod",),
    "priority_class": ("priority_class",),
    "node": ("node",),
    "q": ("queue", "namespace", "pod", "application"),
    "decision": ("decision",),
    "tenant": ("tenant",),
    "cluster": ("cluster",),
    "folded": ("queue",),
    "open": ("queue",),
    "below": ("queue",),
    "expanded": ("queue",),
    "preemptor_queue": ("queue",),
    "victim_queue": ("queue",),
}
"""A word after the ``?`` -> what somebody may try there, fields of sides.Side. Each is tried on every route."""


def rule_of(route: Route) -> Rule:
    """The route's line. Fails where there is none."""
    rule = _line(route)
    assert rule, (
        f"/{route.form} has no line in tests/grid/page_rules.py or api_rules.py: add {route.name!r} and who gets what."
    )
    return rule


def names_of(route: Route) -> dict[str, str]:
    """Parameter -> what it names. Fails for a parameter that is not known."""
    found = {}
    for before, place in pairwise(("", *route.form.split("/"))):
        for parameter in re.findall(r"%\((\w+)\)s", place):
            thing = PARAMETERS.get(f"{before}/{parameter}") or PARAMETERS.get(parameter)
            assert thing or route.namespace == "admin", (
                f"/{route.form} has a parameter that PARAMETERS in tests/grid/rules.py does not know:"
                f" add '{before}/{parameter}' and what it names."
            )
            found[parameter] = thing or "nothing"
    return found


def lines() -> dict[Route, Rule]:
    """Every route with its line; those without one fail a test of their own."""
    return {route: rule for route in routes() if (rule := _line(route))}


def _line(route: Route) -> Rule | None:
    return ROUTES.get(route.name) or ROUTES.get(f"{route.namespace}:*")


READ = [route for route, rule in lines().items() if "GET" in rule.answers]
"""The routes that answer GET."""
WRITTEN = {route: methods for route, rule in lines().items() if (methods := set(rule.answers) - set(READS))}
"""The routes that write, with the methods by which they do."""
