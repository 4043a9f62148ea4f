"""Errors."""

import logging
from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster


def test_an_unknown_address_is_a_problem(olga: APIClient) -> None:
    """Below /api/v1 even what no route knows is answered with problem details."""
    response = olga.get("/api/v1/no/such/thing")
    assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
    assert response.json()["title"] == "Not Found"


@pytest.mark.parametrize("path", ["queues/%00", "queues/a%20b", "queues/a/b", "%00"])
def test_odd_addresses_are_not_found(olga: APIClient, cluster: Cluster, path: str) -> None:
    """Characters that no name has never reach the database."""
    assert olga.get(f"/api/v1/clusters/prod/{path}").status_code == 404


def test_what_cannot_be_rendered_is_a_problem(olga: APIClient, cluster: Cluster) -> None:
    """A client that accepts no JSON is told so in problem details."""
    response = olga.get("/api/v1/clusters", HTTP_ACCEPT="text/csv")
    assert (response.status_code, response["Content-Type"]) == (406, "application/problem+json")


def test_what_nobody_foresaw_is_logged_and_not_told(
    olga: APIClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error of ours is a 500 in problem details; its text is in the log alone."""

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError("canary in the machine")

    monkeypatch.setattr("scheduler_admin.accounts.scopes.RestrictedQuerySet.restrict", fail)
    olga.raise_request_exception = False
    with caplog.at_level(logging.ERROR):
        response = olga.get("/api/v1/clusters")
    assert (response.status_code, response["Content-Type"]) == (500, "application/problem+json")
    assert "canary" not in response.content.decode()
    assert "canary in the machine" in caplog.text


@pytest.mark.parametrize(("body", "place"), [(b'{"a": 1,\n "b" 2}', {"line": 2}), (b"\xff", {"pointer": ""})])
def test_what_is_no_json_is_told_with_its_line(
    ada: APIClient, cluster: Cluster, body: bytes, place: dict[str, Any]
) -> None:
    """Or, where no line can be read either, of all of it."""
    response = ada.post("/api/v1/hierarchies/prod-tree/drafts", body, content_type="application/json")
    assert response.status_code == 400
    (error,) = response.json()["errors"]
    assert error.items() > place.items()
    assert error["detail"]
