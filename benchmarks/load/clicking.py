"""What people and pipelines ask for: Locust runs this file (see ``benchmarks.load``).

A person opens a page, looks at it for some seconds, while it asks for news every two as the page's own script does,
and goes on to another.
"""

import json
import os
import random
import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from gevent import sleep
from locust import FastHttpUser, constant, task

_GIVEN = json.loads(Path(os.environ["PEOPLE"]).read_text(encoding="utf-8"))
_WHO, _DECISIONS = _GIVEN["people"], _GIVEN["decisions"]
_LATELY = 200_000
"""Decisions, of which one is opened."""
_NEWS_S, _LOOKS = 2.0, (2, 6)
"""So many times news is asked for before one goes on: 4 to 12 seconds."""
_FRAME, _ROW = re.compile(r'data-frame="([^"]+)"'), re.compile(r'id="(row-[^"]+)"\s+data-digest="([^"]+)"')
_BASE = "/clusters/large"


class Person(FastHttpUser):
    """Somebody with a browser."""

    abstract = True
    wait_time = constant(0)
    tenant = False
    number = 0

    def on_start(self) -> None:
        """Take the next session of the kind."""
        sessions = [who for who in _WHO if (who["role"] == "tenant") == self.tenant and "session" in who]
        self.who = sessions[type(self).number % len(sessions)]
        self.any_of = random.Random(type(self).number)
        type(self).number += 1
        self.frame, self.rows = "", dict[str, str]()
        self.cookies = {"Cookie": f"sessionid={self.who['session']}"}
        sleep(self.any_of.random() * 5)

    @task(6)
    def queues(self) -> None:
        """The tree."""
        self.look("queues", f"{_BASE}/queues/")

    @task(5)
    def queue(self) -> None:
        """One of them, with what it used over some time."""
        path, hours = self.leaf(), self.any_of.choice([1, 24, 24 * 7, 24 * 30, 24 * 365])
        until = datetime.now(UTC).replace(microsecond=0)
        time_of = {"from": (until - timedelta(hours=hours)).isoformat(), "to": until.isoformat()}
        self.ask("usage over time", f"{_BASE}/queues/{path}/usage.json?{urlencode({'range': 'between', **time_of})}")
        self.look("queue", f"{_BASE}/queues/{path}/")

    @task(4)
    def decision(self) -> None:
        """One of the last; a tenant is led to their own pod's page, or finds none."""
        pk = _DECISIONS - self.any_of.randrange(min(_LATELY, _DECISIONS))
        self.ask("decision", f"{_BASE}/decisions/{pk}/", fine={200, 302, 404} if self.tenant else {200})
        sleep(self.any_of.uniform(3, 10))

    @task(3)
    def pods(self) -> None:
        """One's own, or all."""
        self.ask("my pods", "/pods/")
        sleep(self.any_of.uniform(3, 10))

    def leaf(self) -> str:
        """A queue of one's own part."""
        q = int(self.who["part"]) * 50 + self.any_of.randrange(50)
        return f"root.t{q // 50}.g{q // 10 % 5}.q{q}"

    def look(self, name: str, address: str) -> None:
        """Open a page and stay for a while, asking for news."""
        self.rows.clear()
        self.frame = ""
        tag = self.ask(name, address)
        assert self.rows or not self.frame, f"{address} has a frame, but none of its rows was recognized"
        for _ in range(self.any_of.randint(*_LOOKS)):
            sleep(_NEWS_S)
            shown = {"X-Rows-Shown": " ".join([self.frame, *self.rows.values()])} if self.rows else {}
            headers = {"HX-Request": "true", "HX-Target": "live", "If-None-Match": tag, **shown}
            tag = self.ask(f"{name}, news", address, headers=headers) or tag

    def ask(self, name: str, address: str, *, headers: Any = None, fine: Collection[int] = (200, 304)) -> str:
        """One request, and its answer's ETag; codes that are not ``fine`` are counted as failures."""
        told = {**self.cookies, "Accept-Encoding": "gzip", **(headers or {})}
        with self.client.get(address, headers=told, name=name, catch_response=True, allow_redirects=False) as answer:
            if answer.status_code not in fine:
                answer.failure(f"{answer.status_code} {address}")
                return ""
            answer.success()
            self._remember(answer.text or "")
            return str((answer.headers or {}).get("ETag", ""))

    def _remember(self, text: str) -> None:
        """Which rows the page shows, as its script tells the server."""
        if found := _FRAME.search(text):
            self.frame = found[1]
        self.rows.update(_ROW.findall(text))


class Tenant(Person):
    """Reads what became of their own pods, and how their queues stand."""

    fixed_count = 25
    tenant = True


class Staff(Person):
    """Reads everything."""

    fixed_count = 25

    @task(5)
    def history(self) -> None:
        """By whatever filter."""
        part = int(self.who["part"])
        filters: dict[str, str] = self.any_of.choice(
            [
                {},
                {"range": "24h"},
                {"range": "30d"},
                {"queue": self.leaf(), "range": "30d"},
                {"queue": f"root.t{part}", "range": "30d"},
                {"source": "kube-scheduler", "range": "30d"},
                {"namespace": f"ns-{part * 50 // 4 + 3}", "range": "24h"},
            ]
        )
        self.look("history", f"{_BASE}/history/?{urlencode(filters)}")

    @task(2)
    def fences(self) -> None:
        """The map."""
        self.look("fences", f"{_BASE}/fences/")

    @task(2)
    def clusters(self) -> None:
        """All at a glance."""
        self.look("clusters", "/clusters/")

    @task(1)
    def revisions(self) -> None:
        """Who changed what."""
        self.ask("revisions", f"{_BASE}/revisions/")
        sleep(self.any_of.uniform(3, 10))


class Pipeline(FastHttpUser):
    """A job of CI that looks at what is there and what happened."""

    fixed_count = 2
    wait_time = constant(2)

    def on_start(self) -> None:
        """Sign in by its token."""
        self.told = {"Authorization": f"Bearer {_WHO[-1]['token']}", "Accept-Encoding": "gzip"}

    @task(3)
    def reads(self) -> None:
        """Clusters, all queues, the newest decisions."""
        for name, path in (("clusters", ""), ("queues", "/large/queues"), ("decisions", "/large/decisions?limit=50")):
            self._call(f"REST {name}", f"/api/v1/clusters{path}")

    @task(1)
    def filtered(self) -> None:
        """The newest of a subtree."""
        self._call("REST decisions, a queue's", "/api/v1/clusters/large/decisions?queue=root.t3&limit=50")

    def _call(self, name: str, address: str) -> None:
        with self.client.get(address, headers=self.told, name=name, catch_response=True) as answer:
            if answer.status_code != 200:  # noqa: PLR2004
                answer.failure(f"{answer.status_code} {address}")
