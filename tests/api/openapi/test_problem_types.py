"""The ``type`` of problem details: one for each kind, the same forever, and described."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework import exceptions
from rest_framework.test import APIClient

import scheduler_admin.rest.urls  # noqa: F401 - defines every refusal
from scheduler_admin.rest.problems import Refusal, problem
from scheduler_admin.rest.problems.types import PREFIX, type_of

FOREVER = """
forbidden idempotency-key-reused insufficient-scope internal-error invalid-credentials invalid-header invalid-parameter
invalid-request invalid-tree method-not-allowed no-counterfactuals no-free-stream no-pending-reasons no-replay
not-acceptable not-found orphaned-pods outside-subtree precondition-failed precondition-required processing-time-limit
request-running ruled-out token-not-verified too-large too-many-requests too-many-streams unauthenticated unavailable
unreadable-document unsupported-media-type upload-limit
"""
"""Kinds that there have been. Others may come; none of these may go, or become another."""
_OF_FRAMEWORK: tuple[Any, ...] = (
    exceptions.NotAuthenticated,
    exceptions.AuthenticationFailed,
    exceptions.PermissionDenied,
    exceptions.NotFound,
    exceptions.MethodNotAllowed,
    exceptions.NotAcceptable,
    exceptions.UnsupportedMediaType,
    exceptions.APIException,
)


def below(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield every class that is a kind of another."""
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


OWN: list[Any] = [each for each in below(exceptions.APIException) if each.__module__.startswith("scheduler_admin.")]


def made(kind: type[exceptions.APIException]) -> exceptions.APIException:
    """An error of a class, however it is made."""
    return kind.__new__(kind)


def test_every_refusal_says_of_what_kind_it_is() -> None:
    """Of its own, or inherited from one that means the same."""
    assert [each.__name__ for each in OWN if each is not Refusal and not getattr(each, "kind", None)] == []


def test_no_two_refusals_of_different_statuses_are_of_one_kind() -> None:
    """A program that knows the kind knows the status."""
    found: dict[str, set[int]] = {}
    for each in (*OWN, *_OF_FRAMEWORK):
        if each is not Refusal:
            found.setdefault(type_of(made(each)), set()).add(int(each.status_code))
    assert {name: statuses for name, statuses in found.items() if len(statuses) > 1} == {}


def documented() -> dict[str, int]:
    """Kind -> status, out of docs/api.md."""
    text = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"### Kinds of problems\n(.*?)\n###", text, re.DOTALL)
    return {name: int(status) for name, status in re.findall(r"^\| `([\w-]+)` \| (\d+) \|", table, re.MULTILINE)}


def test_every_kind_is_described_and_stays() -> None:
    """In docs/api.md, with its status."""
    known = {
        type_of(made(each)).removeprefix(PREFIX): int(each.status_code)
        for each in (*OWN, *_OF_FRAMEWORK)
        if each is not Refusal
    }
    assert known == documented()
    assert known.keys() >= set(FOREVER.split())


@pytest.mark.parametrize(
    ("address", "accept", "kind"),
    [
        ("/api/v1/clusters/nowhere", "*/*", "not-found"),
        ("/api/v1/clusters?colour=red", "*/*", "invalid-parameter"),
        ("/api/v1/clusters", "text/csv", "not-acceptable"),
    ],
)
def test_a_problem_names_its_kind(olga: APIClient, address: str, accept: str, kind: str) -> None:
    """As a URI."""
    assert olga.get(address, HTTP_ACCEPT=accept).json()["type"] == f"urn:scheduler-admin:problem:{kind}"


def test_an_error_of_ours_has_a_kind_too() -> None:
    """Nothing is about:blank."""
    assert problem(exceptions.APIException()).data["type"] == "urn:scheduler-admin:problem:internal-error"
