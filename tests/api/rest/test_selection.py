"""``?fields=``: an answer in part."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.urls import resolve
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.rest.selection import selectable
from tests.api.document import read
from tests.api.rest.test_conditional import READ, busy
from tests.api.sending import PROD

__all__ = ["busy"]

READING = {
    path: methods["get"]
    for path, methods in read()["paths"].items()
    if "get" in methods and "application/json" in methods["get"]["responses"]["200"]["content"]
}


def offered(operation: dict[str, Any]) -> list[str]:
    """The names that the document lists."""
    (one,) = (each for each in operation["parameters"] if each["name"] == "fields")
    names: list[str] = one["schema"]["items"]["enum"]
    return names


def narrowed(address: str, names: str) -> str:
    """The same with ``fields``."""
    several = "&".join(f"fields={name}" for name in names.split(","))
    return f"{address}{'&' if '?' in address else '?'}{several}"


def parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer, or each of its results."""
    return body.get("results", [body])  # type: ignore[no-any-return]


def members(address: str) -> list[str]:
    """What may be asked for there."""
    found: Any = resolve(address.partition("?")[0]).func
    view = found.cls(**found.initkwargs)
    view.request, view.kwargs = None, {}
    view.action = getattr(found, "actions", {}).get("get")
    return sorted(selectable(view)[0])


@pytest.mark.parametrize("path", READING)
def test_every_address_offers_the_members_that_it_has(path: str) -> None:
    """By the OpenAPI document as by what is taken."""
    address = re.sub(r"\{\w+\}", "1", path.replace("{guid}", str(UUID(int=1))))
    assert members(address) == offered(READING[path])


@pytest.mark.parametrize("address", READ)
def test_only_what_is_wanted_is_told(busy: Cluster, ada: APIClient, address: str) -> None:
    """One member after the other, and all of them together, which are the whole."""
    whole = ada.get(address).json()
    for name in members(address):
        response = ada.get(narrowed(address, name))
        want = [{name: part[name]} if name in part else {} for part in parts(whole)]
        assert (response.status_code, parts(response.json())) == (200, want)
        assert "results" not in whole or response.json().keys() == whole.keys()
    assert ada.get(narrowed(address, ",".join(members(address)))).json() == whole


@pytest.mark.parametrize("names", ["colour", "", "name,colour", "name,,mode"])
def test_what_is_no_member_is_refused(busy: Cluster, ada: APIClient, names: str) -> None:
    """By its name, of a list too."""
    for address in ("/api/v1/clusters/prod", "/api/v1/clusters"):
        response = ada.get(narrowed(address, names))
        assert response.status_code == 400
        (error,) = response.json()["errors"]
        assert error["parameter"] == "fields"
        assert ("colour" if "colour" in names else "-") in error["detail"]


def test_a_document_in_yaml_is_told_whole(busy: Cluster, ada: APIClient) -> None:
    """And what writes takes no fields."""
    refused = [ada.get(f"{PROD}?fields=policy", HTTP_ACCEPT="application/yaml"), ada.put(f"{PROD}?fields=policy")]
    assert [(one.status_code, one.json()["errors"][0]["parameter"]) for one in refused] == [(400, "fields")] * 2


@pytest.mark.parametrize("address", READ)
def test_a_selection_has_an_etag_of_its_own(busy: Cluster, ada: APIClient, address: str) -> None:
    """The whole's does not stand for it, nor another selection's; its own does."""
    names = members(address)
    asked = [address, narrowed(address, names[0]), narrowed(address, ",".join(names[:2]))]
    tags = [ada.get(one)["ETag"] for one in asked]
    assert len(set(tags)) == 3
    for one, own in zip(asked, tags, strict=True):
        assert ada.get(one, HTTP_IF_NONE_MATCH=own).status_code == 304
        others = ", ".join(tag for tag in tags if tag != own)
        assert ada.get(one, HTTP_IF_NONE_MATCH=others).status_code == 200
