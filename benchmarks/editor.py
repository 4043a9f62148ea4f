"""How long an act takes in the editor, from the key to the page having changed: ``python -m benchmarks edit``."""

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from playwright.sync_api import Page, sync_playwright

from engine.model.quantities import parse_amounts
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from tests.browser.chromium import launch

Row = dict[str, str | float | int]
TENANTS, GROUPS, LEAVES = 20, 7, 6
"""Tenants with fences of their own, groups in each, leaves in each group: 1,001 queues with the root."""
_ARM = """(once) => {
  const row = () => document.getElementById("q" + once.row)?.dataset.digest;
  const rows = () => document.getElementsByTagName("tbody").length;  // a selector would look at every field, each time
  const version = () => document.querySelector("#publish-form [name=version]").value;
  const had = { row: row(), rows: rows(), version: version() };
  const changed = () => ({
    row: () => row() !== had.row,
    rows: () => rows() !== had.rows,
    form: () => Boolean(document.querySelector("#grid .unfold form.act")),
    fold: () => document.querySelector(`[data-above="${once.row}"]`).hidden,
  })[once.until]();
  let began = 0;
  performance.clearResourceTimings();
  const shown = (so) => new Promise((resolve) => {
    const watch = new MutationObserver(() => {
      if (!began || !so()) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));  // once it is painted
    });
    watch.observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  window.took = shown(changed);
  window.whole = shown(() => version() !== had.version);
  addEventListener("keydown", () => { began = performance.now(); }, { capture: true, once: true });
}"""
"""Until the act's result stands in the tree, painted, and until all that is beside the tree is of it too."""

_PAUSE_MS = 1000
"""People take as long to fill in a form, and after an act: what follows on either is not still being answered."""
_WAITED = """(path) => {
  const entries = performance.getEntriesByType("resource").filter((one) => new URL(one.name).pathname.endsWith(path));
  return entries[0]?.duration ?? 0;
}"""
"""How long the answer to an act took: the first of its path."""
Figures = tuple[float, float, float, float]
"""Milliseconds: the server's CPU time, the browser's own, all of it by the clock; and until the whole page is so."""


def edit(runs: int) -> list[Row]:
    """A row of figures for the page and for every act: server's CPU time, and what the browser waited for."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop runs in this thread
    django.setup()
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder)) as (address, cookie, draft),
        sync_playwright() as playwright,
        launch(playwright) as browser,
    ):
        context = browser.new_context(base_url=address)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": address}])
        return _acts(context.new_page(), draft, runs)


def tree() -> QueueTree:
    """A thousand queues with guarantees, maxes and delays."""
    own = parse_amounts({"cpu": "5", "memory": "10Gi"})
    most = parse_amounts({"cpu": "20", "memory": "40Gi"})
    queues = [Queue(path="root")]
    for tenant in (f"root.tenant-{number}" for number in range(TENANTS)):
        queues.append(Queue(path=tenant, preemption_policy=PreemptionPolicy.FENCE, guaranteed={"cpu": 400_000}))
        for group in (f"{tenant}.group-{number}" for number in range(GROUPS)):
            queues.append(Queue(path=group, guaranteed={"cpu": 40_000}))
            queues += [
                Queue(path=f"{group}.leaf-{number}", guaranteed=own, max=most, delay_ms=30_000)
                for number in range(LEAVES)
            ]
    return QueueTree(queues)


@contextmanager
def site(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """A server with a database of its own: its address, an admin's session, a draft of the tree."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler  # noqa: PLC0415 - once Django is set up
    from django.core.servers.basehttp import WSGIRequestHandler  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from django.test import Client, override_settings  # noqa: PLC0415
    from django.test.testcases import LiveServerThread  # noqa: PLC0415

    import scheduler_admin.wsgi  # noqa: F401, PLC0415 - what it does once it is loaded
    from scheduler_admin.accounts.models import User  # noqa: PLC0415
    from scheduler_admin.clusters.models import Cluster  # noqa: PLC0415
    from scheduler_admin.queues.drafts import edits  # noqa: PLC0415
    from scheduler_admin.queues.models import Hierarchy  # noqa: PLC0415
    from scheduler_admin.queues.services.hierarchies import publish  # noqa: PLC0415

    settings.DATABASES["default"]["TEST"]["NAME"] = str(folder / "editor.sqlite3")
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    plain = dict.fromkeys(("SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE"), False)
    with override_settings(ALLOWED_HOSTS=["*"], SIMULATOR_URL="", **plain):
        ada = User.objects.create_user("ada", role=User.Role.ADMIN)
        hierarchy = Hierarchy.objects.create(name="large")
        publish(hierarchy=hierarchy, tree=tree(), author=ada, reason="first")
        Cluster.objects.create(name="large", hierarchy=hierarchy)
        draft = edits.start(hierarchy=hierarchy, name="large", author=ada)
        client = Client()
        client.force_login(ada)
        WSGIRequestHandler.disable_nagle_algorithm = True  # as gunicorn: else a second packet waits 40 ms for its first
        server = LiveServerThread("localhost", StaticFilesHandler)
        server.daemon = True
        server.start()
        server.is_ready.wait()
        try:
            yield (
                f"http://localhost:{server.port}",
                client.cookies[settings.SESSION_COOKIE_NAME].value,
                draft,
            )
        finally:
            server.terminate()


class _Meter:
    """CPU time of the server's answers, each in the thread that gives it."""

    def __init__(self) -> None:
        from django.core.signals import request_finished, request_started  # noqa: PLC0415

        self.answers: list[tuple[str, float]] = []
        self._begun: dict[int, tuple[str, float]] = {}
        request_started.connect(self._start, weak=False)
        request_finished.connect(self._finish, weak=False)

    def _start(self, environ: dict[str, str], **_more: Any) -> None:
        polled = "HTTP_IF_NONE_MATCH" in environ
        self._begun[threading.get_ident()] = "" if polled else environ["PATH_INFO"], time.thread_time()

    def _finish(self, **_more: Any) -> None:
        path, began = self._begun.pop(threading.get_ident())
        self.answers.append((path, (time.thread_time() - began) * 1000))

    def of(self, word: str, since: int = 0) -> float:
        """The first answer whose address ends so, of those since a number of them."""
        return next(took for path, took in self.answers[since:] if path.endswith(f"/{word}/"))


def _acts(page: Page, draft: Any, runs: int) -> list[Row]:
    meter = _Meter()
    leaf, group, root = (draft.queues.filter(name=name).first().pk for name in ("leaf-3", "group-2", "root"))
    address = f"/clusters/large/drafts/{draft.pk}/"
    figures: dict[str, list[Figures]] = {}
    for run in range(runs + 1):
        began, answered = time.perf_counter(), len(meter.answers)
        page.goto(address)
        page.locator("#grid [data-setting]:enabled").first.wait_for()  # its script is at work
        took = (time.perf_counter() - began) * 1000
        page.wait_for_load_state("networkidle")  # the forecast after it, too
        served = page.evaluate("performance.getEntriesByType('navigation')[0].responseEnd")
        found = {"page": (meter.of(str(draft.pk), answered), took - served, took, took)} | _once(
            page, meter, run, leaf, group, root
        )
        if run:  # the first is warming up
            for act, one in found.items():
                figures.setdefault(act, []).append(one)
    return [_row(act, found) for act, found in figures.items()]


def _once(page: Page, meter: _Meter, run: int, leaf: int, group: int, root: int) -> dict[str, Figures]:
    """Every act once, and undone."""
    found: dict[str, Figures] = {}

    def pressed(row: int, key: str, until: str) -> tuple[float, float]:
        page.evaluate(_ARM, {"row": row, "until": until})
        page.keyboard.press(key)
        took: float = page.evaluate("window.took")
        whole: float = page.evaluate("window.whole") if until in {"row", "rows"} else took
        page.wait_for_timeout(_PAUSE_MS)
        return took, whole

    def act(name: str, path: str, row: int, key: str, until: str = "row") -> None:
        answered = len(meter.answers)
        took, whole = pressed(row, key, until)
        waited = page.evaluate(_WAITED, f"/{path}/") if path else 0.0
        found[name] = (meter.of(path, answered) if path else 0.0, took - waited, took, whole)

    def on(row: int) -> None:
        page.locator(f"#n{row}").focus()

    page.locator(f"#f{leaf}-delay").fill(f"{run + 1}m")
    act("edit", "edit", leaf, "Enter")
    on(leaf)
    act("undo an edit", "undo", leaf, "Control+z")
    on(group)
    act("open a form", "news", group, "a", "form")
    page.keyboard.type("new")
    act("add", "add", group, "Enter", "rows")
    pressed(group, "Control+z", "rows")
    on(group)
    page.keyboard.press("F2")
    page.locator("#act-name").fill("renamed")
    page.wait_for_timeout(_PAUSE_MS)
    act("rename", "rename", group, "Enter")
    pressed(group, "Control+z", "row")
    for name, key in (("move", "m"), ("copy", "c"), ("delete", "Delete")):
        on(group)
        page.keyboard.press(key)
        page.locator("#grid .unfold form.act").wait_for()
        if name != "delete":
            page.locator("#act-parent").select_option(str(root))
        page.locator(".act button.primary").focus()
        page.wait_for_timeout(_PAUSE_MS)
        until = "row" if name == "move" else "rows"
        act(name, name, group, "Enter", until)
        act(f"undo a {name}", "undo", group, "Control+z", until)
    on(group)
    act("fold", "", group, "ArrowLeft", "fold")
    page.keyboard.press("ArrowRight")
    return found


def _row(act: str, found: list[Figures]) -> Row:
    server, browser, clock, whole = zip(*found, strict=True)
    return {
        "act": act,
        "server_cpu_ms": round(statistics.median(server), 1),
        "browser_ms": round(statistics.median(browser), 1),
        "clock_ms": round(statistics.median(clock), 1),
        "whole_ms": round(statistics.median(whole), 1),
        "runs": len(found),
    }
