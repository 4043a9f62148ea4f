"""Connecting a cluster in a real browser: from the page of clusters to its queues, with nothing for axe to find."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from scheduler_admin.clusters.models import Cluster
from simulator.kubeconfig import kubeconfig
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.cluster.doubles import simulate
from tests.cluster.offering import offer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def config(live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[str]:
    """Somebody's cluster, in kubectl's own kubeconfig."""
    with simulate() as theirs:
        theirs.add_node()
        theirs.add_pod("web", node="n1")
        path = tmp_path / "config"
        path.write_text(kubeconfig(theirs.address))
        offer(tmp_path, monkeypatch, settings)
        yield str(path)


def test_from_the_clusters_to_the_queues_of_ones_own(open_page: OpenPage, config: str) -> None:
    """Offered, looked at, connected; and said what is being waited for."""
    page = open_page("/clusters/")
    page.locator(".empty").get_by_role("link", name="Connect a cluster").click()
    page.wait_for_url("**/clusters/connect/")
    assert faults(page) == {}
    page.get_by_label("Context").select_option("simulator")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Cluster overview")).to_be_visible()
    assert not Cluster.objects.exists()
    assert faults(page) == {}
    page.get_by_role("button", name="Connect simulator").click()
    page.wait_for_url("**/clusters/simulator/queues/")
    expect(page.get_by_text("nothing is written to the cluster")).to_be_visible()
    assert Cluster.objects.get().mode == "observe"


def test_a_look_says_that_it_takes_a_while_and_is_not_sent_twice(open_page: OpenPage, config: str) -> None:
    """Of two presses of the button the second is held back."""
    page = open_page("/clusters/connect/")
    held, busy, told = page.evaluate(
        """() => {
          const form = document.querySelector("form[data-busy]"), held = [];
          form.addEventListener("submit", (event) => { held.push(event.defaultPrevented); event.preventDefault(); });
          for (const _ of [1, 2]) form.querySelector("button").click();
          return [held, form.ariaBusy, form.querySelector("[role=status]").textContent];
        }"""
    )
    assert (held, busy) == ([False, True], "true")
    assert "up to 20 seconds" in told


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scripts", [True, False])
def test_the_result_is_in_view_and_has_the_focus(open_page: OpenPage, config: str, width: int, scripts: bool) -> None:
    """What a button brings is below it: the contexts, or why there is no preview; with and without scripts."""
    page = open_page("/clusters/connect/", width=width, java_script_enabled=scripts)
    Path(config).write_text(kubeconfig("http://127.0.0.1:9"))
    for button, result in (
        ("List contexts", page.get_by_role("heading", name="Choose the cluster")),
        ("Preview", page.get_by_role("alert").filter(has_text="127.0.0.1:9")),
    ):
        page.get_by_role("button", name=button).click()
        expect(result).to_be_focused()
        expect(result).to_be_in_viewport()


def test_what_is_wrong_stands_at_its_field(open_page: OpenPage, config: str) -> None:
    """Tied to it, for those who can't see it."""
    page = open_page("/clusters/connect/")
    Path(config).write_text("contexts, clusters: [")
    page.get_by_label("Kubeconfig file on the server").select_option(config)
    page.get_by_role("button", name="List contexts").click()
    field = page.get_by_label("Kubeconfig file on the server")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile("is not valid YAML"))
    assert faults(page) == {}


def test_what_is_pasted_signs_in_and_can_be_checked_and_replaced(open_page: OpenPage, config: str) -> None:
    """From the form to the page Connection; what was pasted is in no field again."""
    page = open_page("/clusters/connect/")
    page.get_by_label("Kubeconfig (paste its text)").fill(Path(config).read_text())
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("button", name="Preview")).to_be_visible()
    assert faults(page) == {}
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Connect simulator").click()
    page.wait_for_url("**/clusters/simulator/queues/")
    page = open_page("/clusters/simulator/connection/")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("simulator can be used in Observe mode")).to_be_visible()
    expect(page.get_by_label("Kubeconfig (paste its text)")).to_have_value("")
    assert faults(page) == {}
