"""Every answer names its request, and the log names it too."""

import logging

import pytest
from django.test import Client


def test_an_answer_has_an_id(client: Client) -> None:
    first, second = (client.get("/sign-in/").headers["X-Request-ID"] for _ in range(2))
    assert len(first) == 32
    assert first != second


def test_the_id_of_a_proxy_is_kept(client: Client) -> None:
    assert client.get("/sign-in/", headers={"X-Request-ID": "edge-1/42"}).headers["X-Request-ID"] == "edge-1/42"


@pytest.mark.parametrize("strange", ["a b", "x" * 129, 'a"b', "é", ""])
def test_an_id_that_could_mislead_is_replaced(client: Client, strange: str) -> None:
    """It would be quoted in every line."""
    found = client.get("/sign-in/", headers={"X-Request-ID": strange}).headers["X-Request-ID"]
    assert found != strange
    assert len(found) == 32


def test_the_log_has_no_query(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """It may be the code of a sign-in."""
    with caplog.at_level(logging.DEBUG, "scheduler_admin.site.request_log"):
        client.get("/sign-in/?code=s3cr3t")
    (line,) = (record.getMessage() for record in caplog.records if record.name == "scheduler_admin.site.request_log")
    assert line.startswith("GET /sign-in/ 200 in ")
