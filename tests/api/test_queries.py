"""How many queries a route needs, whatever it finds."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from tests.api.builders import RED, blue_pod, decision, red_pod

PROD = "/api/v1/clusters/prod"
ADDRESSES = {
    "/api/v1/clusters": (2, 3),
    PROD: (2, 3),
    f"{PROD}/queues": (4, 5),
    f"{PROD}/queues/{RED}": (4, 5),
    f"{PROD}/usage?queue={RED}&resource=cpu": (4, 5),
    f"{PROD}/decisions": (4, 5),
    f"{PROD}/decisions?queue=root.red&namespace=red": (5, 6),
    "/api/v1/decisions/1": (4, 5),
}
"""Address -> queries of an operator and of a tenant; the token is the first, a tenant's tenants the second."""


@pytest.fixture
def many(cluster: Cluster) -> None:
    for number in range(12):
        decision(cluster, ask=blue_pod(f"a{number}"), victims=(red_pod(), blue_pod()), pk=number + 1)


@pytest.mark.parametrize("url", ADDRESSES)
def test_queries_do_not_grow(
    alice: APIClient, olga: APIClient, many: None, django_assert_num_queries: Any, url: str
) -> None:
    """A route needs as many queries for twelve decisions as for one."""
    for client, want in zip((olga, alice), ADDRESSES[url], strict=True):
        client.get("/api/v1/nothing")  # the token's last use is noted, once a minute
        with django_assert_num_queries(want):
            assert client.get(url).status_code == 200
