"""The page of the audit log: who did what, with what was before and after, filtered by its address, and as a file."""

import csv
import json
import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.accounts.services.tenants import change_tenant
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import change_user
from scheduler_admin.accounts.verb_words import KINDS, VERBS
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.core.paging import PAGE
from tests.pages.accounts.people import person, red, shown, wrong

pytestmark = pytest.mark.django_db
WRONG_TIME = "soon is not a valid time. Use a format such as 2026-11-22T10:00:00Z."
LOG = "/people/audit-log/"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def events(count: int = 1, **facts: Any) -> None:
    """So many events, a minute after one another from noon on."""
    for minute in range(count):
        with time_machine.travel(NOON + timedelta(minutes=minute), tick=False):
            record(**{"actor": None, "verb": "cluster.mode", "target": f"c{minute}", "reason": "a test"} | facts)


def targets(client: Client, query: str = "") -> list[str]:
    """The objects of the events that a page shows."""
    return re.findall(r'href="\?target=([^"]+)"', client.get(f"{LOG}?{query}").content.decode())


class TestWhatItSays:
    """Each event is readable: who, what, before and after, and why."""

    def test_before_and_after_stand_beside_each_other(self, ada: Client) -> None:
        """Of a user and of a tenant; lists and roles in words."""
        eve = person("eve", role="admin")
        bob, tenant = person("bob"), red()
        change_user(user=bob, actor=eve, role="operator", active=False, memberships={tenant: "editor"}, reason="moved")
        change_tenant(tenant=tenant, actor=eve, namespaces=["red", "blue"], reason="grown")
        text = shown(ada, LOG)
        assert (
            "eve User changed user.change bob Role: Tenant → Operator Active: yes → no Tenants: – → red: Editor" in text
        )
        assert "eve Tenant changed tenant.change red Namespaces: red → blue, red grown" in text
        assert "User created user.create bob Role: Tenant Tenants: –" in text

    def test_what_holds_for_the_whole_site_has_no_object(self, ada: Client) -> None:
        """It says so."""
        change_site(actor=person("eve", role="admin"), preemptor="none", reason="agreed")
        assert "Site settings changed site.change whole site Visible details: queue → none agreed" in shown(ada, LOG)

    def test_a_mode_says_which_it_was(self, ada: Client, demo: Cluster) -> None:
        """And the page of the cluster's settings says it in the same words."""
        demo.mode = "observe"
        demo.save()
        set_mode(cluster=demo, mode="advise", actor=None, reason="ready")
        assert f"Mode set cluster.mode {demo.name} Mode: Observe → Advise ready" in shown(ada, LOG)
        assert "Mode set Mode: Observe → Advise ready" in shown(ada, f"/clusters/{demo.name}/settings/")

    def test_what_was_done_by_a_token_names_it(self, ada: Client) -> None:
        """By its first characters."""
        eve = person("eve", role="admin")
        eve.token, _secret = create_token(user=eve, name="ci")
        change_site(actor=eve, preemptor="none", reason="agreed")
        assert f"eve with token {eve.token.prefix}… Site settings changed" in shown(ada, LOG)

    def test_priority_classes_say_it_field_by_field(self, ada: Client) -> None:
        """Whose changes are recorded under one name."""
        events(verb="class.change", details={"name": "high", "changes": {"description": ["", "for trains"]}})
        assert "description: – → for trains Name: high" in shown(ada, LOG)

    def test_times_are_told_to_the_minute(self, ada: Client) -> None:
        """In UTC, as elsewhere where a page cannot say it in the reader's zone."""
        events(verb="token.create", details={"expires_at": "2026-02-05T13:30:12.5+01:00", "scopes": ["read"]})
        assert "Expires: 2026-02-05 12:30 UTC Scopes: read" in shown(ada, LOG)

    def test_an_act_without_words_is_shown_by_its_name(self, ada: Client) -> None:
        """Nothing is hidden."""
        events(verb="thing.done", details={"count": 0, "list": []})
        assert "command line thing.done thing.done c0 count: 0 list: – a test" in shown(ada, LOG)

    def test_every_act_that_is_recorded_has_words(self) -> None:
        """Whoever records a new one adds them."""
        source = "\n".join(path.read_text(encoding="utf-8") for path in Path("scheduler_admin").rglob("*.py"))
        found = set(re.findall(r'verb="([a-z.-]+)"', source))
        assert len(found) > 40
        assert found <= set(VERBS)
        assert {verb.partition(".")[0] for verb in VERBS} == set(KINDS)


class TestFilters:
    """They are in the address, and all that are given must hold."""

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("", ["c2", "c1", "c0", "red"]),
            ("kind=cluster", ["c2", "c1", "c0"]),
            ("kind=tenant", ["red"]),
            ("verb=tenant.change", ["red"]),
            ("actor=EV", ["red"]),
            ("target=c1", ["c1"]),
            ("q=RED-DEV", ["red"]),
            ("q=a+test", ["c2", "c1", "c0"]),
            ("q=c2", ["c2"]),
            ("since=2026-01-05T12:01&until=2026-01-05T12:02", ["c1"]),
            ("until=2026-01-05T12:00", ["red"]),
            ("kind=cluster&q=red", []),
        ],
    )
    def test_each_leaves_what_it_says(self, ada: Client, query: str, found: list[str]) -> None:
        """The newest first."""
        events(3)
        with time_machine.travel(NOON - timedelta(hours=1), tick=False):
            details = {"namespaces": [["red"], ["red-dev"]]}
            record(actor=person("eve"), verb="tenant.change", target="red", details=details)
        AuditEvent.objects.filter(verb="user.create").delete()
        assert targets(ada, query) == found

    def test_a_filter_that_is_none_says_so_at_its_field(self, ada: Client) -> None:
        """And leaves the others as they are."""
        events(2)
        response = ada.get(f"{LOG}?since=soon&verb=nothing.such&target=c1")
        assert (wrong(response, "since"), bool(wrong(response, "verb"))) == (WRONG_TIME, True)
        assert "c0" not in re.findall(r'\?target=([^"]+)"', response.content.decode())

    def test_nothing_that_matches_is_said(self, ada: Client) -> None:
        """With what to do."""
        assert "No entries match these filters. Clear the filters" in shown(ada, f"{LOG}?q=nobody-wrote-this")
        assert "No entries yet. Every change that users and programs make here is recorded." in shown(ada, LOG)

    def test_pages_hold_their_place(self, ada: Client) -> None:
        """While events come in, and with the filters of the first."""
        events(PAGE + 2, verb="cluster.pause")
        html = ada.get(f"{LOG}?kind=cluster").content.decode()
        assert f"{PAGE} entries" in html
        older = re.search(r'id="older"[^>]*href="\?([^"]+)"', html)
        assert older is not None
        record(actor=None, verb="cluster.resume", target="newer")
        query = older[1].replace("&amp;", "&")
        assert query.startswith("kind=cluster&before=")
        assert targets(ada, query) == ["c1", "c0"]
        assert 'id="newer" rel="first" href="?kind=cluster"' in ada.get(f"{LOG}?{query}").content.decode()


class TestFiles:
    """The same events as CSV and JSON, by the same filters, all at once."""

    def test_csv(self, audrey: Client) -> None:
        """Details are JSON; what a spreadsheet would run is quoted."""
        events(2, reason="=1+1", details={"mode": "advise"})
        response = audrey.get(f"{LOG}events.csv?target=c1")
        assert response["Content-Disposition"] == 'attachment; filename="audit-log.csv"'
        (row,) = csv.DictReader(StringIO(response.getvalue().decode()))
        assert (row["actor"], row["verb"], row["target"]) == ("command line", "cluster.mode", "c1")
        assert (row["occurred_at"], row["reason"]) == ("2026-01-05T12:01:00+00:00", "'=1+1")
        assert json.loads(row["details"]) == {"mode": "advise"}

    def test_json(self, audrey: Client) -> None:
        """More than a page has."""
        events(PAGE + 2)
        rows = json.loads(audrey.get(f"{LOG}events.json?kind=cluster").getvalue())
        assert [row["target"] for row in rows][:2] == [f"c{PAGE + 1}", f"c{PAGE}"]
        assert len(rows) == PAGE + 2

    def test_the_page_leads_to_them_with_its_filters(self, ada: Client) -> None:
        """Not with its place."""
        html = ada.get(f"{LOG}?kind=user&before=2026-01-05T12:00:00%2B00:00_7").content.decode()
        assert f'href="{LOG}events.csv?kind=user" download' in html

    def test_tenants_get_none(self, tess: Client) -> None:
        """Nor the page."""
        assert [tess.get(f"{LOG}{end}").status_code for end in ("", "events.csv", "events.json")] == [404] * 3
