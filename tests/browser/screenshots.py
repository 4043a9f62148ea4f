"""`make screenshots`: run the demo, wait for a preemption, draw every page in both schemes at three widths."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import django
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import launch
from tests.ports import free_port

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")
django.setup()

from tests.browser.pages import PAGES, short  # noqa: E402 - reads the URLconf

WIDTHS = (360, 1280, 2560)
SCHEMES = ("light", "dark")
ENOUGH = 15
"""So many decisions make a history to look at."""
QUEUE = "root.tenant-1.training"
OF_OTHERS = {"login", "pods", "pod"}
"""Pages that are drawn as somebody else sees them."""
NOT_IN_THE_DEMO = {
    *("workload", "group_mapping", "group_mapping_delete", "workload_identity", "workload_identity_delete"),
    *("token_revoke", "service_token_add"),
}
"""Pages about what only Kueue has, or an installation with single sign-on and pipelines."""
WITH = {"fences": f"?queue={QUEUE}"}
LINKED = {"node": ("nodes/", "main tbody th a"), "application": (f"queues/{QUEUE}/", "#work [id^=app-]")}
"""Pages that the first link of another one leads to: that page of the cluster, and its links."""
READY = {
    "queue": ".js-plotly-plot .main-svg",
    "fences": ".map",
    "draft": "#prospect",
    "snapshot": "#prospect:not([data-forecast])",
    "api_docs": ".swagger-ui .opblock",
}
"""What a page waits for before it is drawn, where that comes after the rest."""
_LOGIN = re.compile(r"^\s+(admin|tenant)\s+(\S+) / (\S+)", re.MULTILINE)


def main(folder: Path) -> None:
    """Draw into ``folder``, one PNG per page, scheme and width."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [
        sys.executable,
        "manage.py",
        "demo",
        "--port",
        str(port),
        "--folder",
        str(Path("var") / "drawn"),
        "--speed",
        "4",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as demo:
        try:
            logins = _logins(demo)
            with sync_playwright() as playwright, launch(playwright) as browser:
                _draw(browser, f"http://127.0.0.1:{port}", logins, folder)
        finally:
            demo.terminate()
            demo.wait(30)


def _logins(demo: "subprocess.Popen[str]") -> dict[str, tuple[str, str]]:
    assert demo.stderr is not None
    told = ""
    while "Ctrl-C" not in told:
        line = demo.stderr.readline()
        if not line:
            raise SystemExit(told)
        told += line
    return {role: (name, password) for role, name, password in _LOGIN.findall(told)}


def _draw(browser: Browser, site: str, logins: dict[str, tuple[str, str]], folder: Path) -> None:
    page = _signed_in(browser, site, *logins["admin"])
    known = {"decision": _wait_for_decision(page, site), **_made(page, site)}
    known |= {name: _first(page, link, f"{site}/clusters/demo/{at}") for name, (at, link) in LINKED.items()}
    values = {"name": "demo", "path": QUEUE, "number": 1, "pk": 1, "priority_class": "standard"}
    for route in PAGES:
        name = short(route)
        if name in OF_OTHERS | NOT_IN_THE_DEMO:
            continue
        address = known.get(name) or site + route.address(values)
        _shoot(page, address + WITH.get(name, ""), folder / name, wait_for=READY.get(name, "main"))
    page.context.close()
    page = _signed_in(browser, site, *logins["tenant"])
    _shoot(page, f"{site}/pods/", folder / "pods")
    for state in ("preempted", "pending"):
        page.goto(f"{site}/pods/")
        link = page.locator("main tr").filter(has=page.get_by_text(state, exact=True)).locator("a").first
        if link.count():
            _shoot(page, f"{site}{link.get_attribute('href')}", folder / f"pod-{state}")
    page.context.close()
    page = browser.new_page()
    _shoot(page, f"{site}/sign-in/", folder / "login")


def _made(page: Page, site: str) -> dict[str, str]:
    """The addresses of what the demo does not begin with: name of the page -> address."""
    return {
        "draft": _draft(page, site),
        "notification_channel": _channel(page, site),
        "snapshot": _snapshot(page, site),
        "comparison": _comparison(page, site),
    }


def _signed_in(browser: Browser, site: str, name: str, password: str) -> Page:
    page = browser.new_page()
    page.goto(f"{site}/sign-in/")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", password)
    page.click("main button[type=submit]")
    page.wait_for_url(lambda url: "sign-in" not in url)
    return page


def _channel(page: Page, site: str) -> str:
    """Add a channel that is told nothing; its address."""
    page.goto(f"{site}/notifications/")
    page.locator("[name=name]").fill("on call")
    page.locator("[name=address]").fill("https://hooks.example.com/scheduler")
    for box in page.locator("main [type=checkbox]:visible").all():
        box.uncheck()
    page.get_by_role("button", name="Add channel").click()
    return _first(page, "main tbody th a", f"{site}/notifications/")


def _snapshot(page: Page, site: str) -> str:
    """Save a snapshot; its address."""
    page.goto(f"{site}/clusters/demo/snapshots/")
    page.get_by_label("Name", exact=True).fill("before the change")
    page.get_by_role("button", name="Save", exact=True).click()
    return _first(page, "main tbody th a", f"{site}/clusters/demo/snapshots/")


def _comparison(page: Page, site: str) -> str:
    """Compare what was recorded under two policies, and wait for it; its address."""
    page.goto(f"{site}/clusters/demo/compare/")
    page.get_by_label("Everything recorded in a period").check()
    page.locator("#c-terms-2").select_option(index=1)
    page.locator("#c-tree-2").select_option(index=1)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url("**/compare/*/")
    page.locator("#h-figures").wait_for(timeout=240_000)
    return page.url


def _first(page: Page, link: str, listed: str) -> str:
    """The address that the first such link of a list leads to."""
    page.goto(listed)
    page.locator(link).first.click()
    page.wait_for_url(lambda url: url != listed)
    return page.url


def _draft(page: Page, site: str) -> str:
    """Start a draft with changes and a slip in it; its address."""
    page.goto(f"{site}/clusters/demo/editor/")
    for label, text in (
        ("queue-b, guaranteed nvidia.com/gpu", "2"),
        ("training, guaranteed nvidia.com/gpu", "5"),
        ("queue-2, max memory", "128Gb"),
    ):
        page.get_by_label(label, exact=True).fill(text)
        page.get_by_label(label, exact=True).press("Enter")
    page.locator(".errrow").wait_for()
    page.locator("#name-draft summary").click()
    page.get_by_label("Draft name").fill("Room for vision")
    page.locator("#name-draft button").click()
    page.get_by_role("heading", name="Room for vision").wait_for()
    return page.url


def _wait_for_decision(page: Page, site: str) -> str:
    """Wait for a history; the address of its newest decision with two victims whose ask was bound."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        page.goto(f"{site}/clusters/demo/history/?outcome=bound")
        rows = page.locator("tbody tr")
        pair = rows.filter(has=page.locator("td", has_text=re.compile("^2$"))).locator("a").first
        if rows.count() >= ENOUGH and pair.count():
            return f"{site}{pair.get_attribute('href')}"
        page.wait_for_timeout(1000)
    raise SystemExit(f"{ENOUGH} preemptions did not come within 240 s.")


def _shoot(page: Page, address: str, target: Path, wait_for: str = "main") -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(address)
        page.wait_for_selector(wait_for)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=f"{target}-{scheme}-{width}.png", full_page=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
