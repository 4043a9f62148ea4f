"""The tree and one queue in a real browser: folds, refresh without losing one's place, themes, the plot."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from playwright.sync_api import Page, expect

from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.models import Revision
from scheduler_admin.site.compression import Compression
from scheduler_admin.usage.runs import Amount, Now
from tests.browser.conftest import OpenPage
from tests.builders import rewrite
from tests.pages import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TREE = "/clusters/demo/queues/"
QUEUE = "/clusters/demo/queues/root.tenant-1.queue-b/"


@pytest.fixture
def demo(live_server: Any) -> Cluster:
    made = rows.everything()
    # Fresh for as long as the test runs.
    ClusterStatus.objects.update(read_at=timezone.now() + timedelta(minutes=5))
    return made


def news(**changes: Any) -> None:
    """What a pass does when it finds something new."""
    ClusterStatus.objects.update(news=F("news") + 1, **changes)


def test_folding_with_the_keyboard_lives_in_the_address(open_page: OpenPage, demo: Cluster) -> None:
    """Folded at once, kept in the link, and still so after a reload."""
    page = open_page(TREE)
    fold = page.get_by_role("link", name="Collapse tenant-1")
    fold.focus()
    page.keyboard.press("Enter")
    expect(page.locator('[data-path="root.tenant-1.queue-b"]')).to_be_hidden()
    assert page.url.endswith("?folded=root.tenant-1")
    page.reload()
    expect(page.locator('[data-path="root.tenant-1.queue-b"]')).to_be_hidden()
    page.get_by_role("link", name="Expand tenant-1").click()
    expect(page.locator('[data-path="root.tenant-1.queue-b"]')).to_be_visible()
    assert "folded" not in page.url


def test_news_arrives_without_losing_ones_place(open_page: OpenPage, demo: Cluster) -> None:
    """Within one poll: the numbers change; focus, scroll position and a half-typed filter do not."""
    page = open_page(TREE, width=360)
    link = page.locator('[id="q-root.tenant-2.queue-2"]')
    link.focus()
    before = page.evaluate("scrollY")
    figures = dict(demo.status.queues)
    figures["root.tenant-2.queue-2"] = figures["root.tenant-2.queue-2"] | {"asks": 77}
    news(queues=figures)
    expect(page.locator('[data-path="root.tenant-2.queue-2"] .asks')).to_contain_text("77")
    expect(link).to_be_focused()
    assert page.evaluate("scrollY") == before > 0
    page.get_by_role("searchbox").press_sequentially("tenant")
    figures["root.tenant-2.queue-2"] = figures["root.tenant-2.queue-2"] | {"asks": 78}
    news(queues=figures)
    expect(page.locator('[data-path="root.tenant-2.queue-2"] .asks')).to_contain_text("78")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("tenant")


def test_without_news_nothing_is_swapped(open_page: OpenPage, demo: Cluster) -> None:
    """The answer is 304, and what stands there stays the same element."""
    page = open_page(TREE)
    page.evaluate("document.addEventListener('htmx:afterSwap', () => document.body.setAttribute('data-swapped', ''))")
    for _ in range(2):
        with page.expect_response(lambda response: response.request.headers.get("hx-request") == "true") as found:
            pass
        assert found.value.status == 304
    assert page.locator("[data-swapped]").count() == 0


def test_the_last_pass_moves_on_without_news(open_page: OpenPage, demo: Cluster) -> None:
    """A quiet pass changes nothing but its own time."""
    page = open_page(TREE)
    at = timezone.now() + timedelta(minutes=7)
    ClusterStatus.objects.update(pass_at=at)
    expect(page.locator("#pulse [data-pass] time")).to_have_attribute("title", f"{at:%Y-%m-%d %H:%M:%S} UTC")


def test_staleness_shows_by_itself(open_page: OpenPage, demo: Cluster) -> None:
    """A worker that stopped makes no news; the page says so all the same."""
    page = open_page(TREE)
    ClusterStatus.objects.update(read_at=timezone.now() - timedelta(minutes=1))
    expect(page.get_by_text("The data below is from the last successful read")).to_be_visible()


def test_a_theme_is_kept(open_page: OpenPage, demo: Cluster) -> None:
    """Chosen from the menu, there before the first paint of the next page."""
    page = open_page(TREE)
    page.get_by_role("button", name="ada").click()
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto("/clusters/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="ada").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")


def test_times_are_in_the_viewers_zone(open_page: OpenPage, demo: Cluster) -> None:
    """With the exact UTC time on hover."""
    at = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
    rewrite(Revision.objects.all(), published_at=at)
    page = open_page(TREE, timezone_id="Asia/Shanghai")
    time = page.locator("footer time")
    expect(time).to_have_attribute("title", f"{at:%Y-%m-%d} 12:00:00 UTC")
    expect(time).to_contain_text("20:00")
    expect(page.locator("footer")).to_contain_text("Asia/Shanghai")


def test_a_cluster_is_paused_from_the_keyboard(open_page: OpenPage, demo: Cluster) -> None:
    """The reason is asked before anything happens."""
    page = open_page("/clusters/")
    page.get_by_role("button", name="Pause demo").press("Enter")
    page.get_by_role("dialog").get_by_label("Reason").fill("storage migration")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="demo")).to_contain_text("storage migration")
    assert Pause.objects.filter(cluster=demo).exists()


def drawn(page: Page) -> None:
    """Waits until plotly has drawn, be it a single point, which has no size."""
    page.wait_for_selector(".js-plotly-plot .scatterlayer .trace", state="attached")


def test_the_plot_keeps_to_the_policy(open_page: OpenPage, demo: Cluster) -> None:
    """plotly draws every trace, and adds neither a style element nor a message to the console."""
    page = open_page(QUEUE)
    drawn(page)
    assert page.locator(".js-plotly-plot .scatterlayer .trace").count() == 7
    assert page.evaluate("document.querySelectorAll('style').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_plot_takes_its_colours_from_the_page(open_page: OpenPage, demo: Cluster, scheme: str) -> None:
    """The line of the guarantee is drawn in the page's own ink."""
    page = open_page(QUEUE, scheme=scheme)
    drawn(page)
    ink = page.evaluate("getComputedStyle(document.body).color")
    line = page.evaluate("getComputedStyle(document.querySelector('.scatterlayer .trace .js-line')).stroke")
    assert line == ink


def test_a_mark_opens_its_decision(open_page: OpenPage, demo: Cluster) -> None:
    """The plot leads to why."""
    page = open_page(QUEUE)
    drawn(page)
    marks = page.locator(".js-plotly-plot .scatterlayer .point")
    box = marks.first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector(".js-plotly-plot .hoverlayer *", state="attached")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**/decisions/*/")
    assert int(page.url.rstrip("/").rpartition("/")[2]) in Decision.objects.values_list("pk", flat=True)


def test_a_part_that_is_chosen_becomes_the_address(open_page: OpenPage, demo: Cluster) -> None:
    """Drawn more finely in place; the address shows the same to whoever gets it; the keyboard goes on from there."""
    page = open_page(QUEUE)
    drawn(page)
    box = page.locator(".js-plotly-plot .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 100, steps=4)
    page.mouse.up()
    page.wait_for_url("**from=*")
    shown = "document.querySelector('.js-plotly-plot')?.layout?.xaxis.range.join()"
    drawn(page)
    chosen = page.evaluate(shown)
    page.reload()
    drawn(page)
    assert page.evaluate(shown) == chosen
    address = page.url
    page.get_by_role("link", name="Zoom out").press("Enter")
    page.wait_for_url(lambda url: "from=" in url and url != address)


def test_the_table_beside_the_plot_comes_when_it_is_opened(open_page: OpenPage, demo: Cluster) -> None:
    """With the keyboard, and of another range when that is chosen; nobody waits for its rows otherwise."""
    page = open_page(QUEUE)
    drawn(page)
    assert page.locator("#fold-table table").count() == 0
    page.locator("#fold-table summary").press("Enter")
    expect(page.get_by_role("group", name="Usage over time as a table").locator("tbody tr").first).to_be_visible()
    page.get_by_role("navigation", name="What the plot shows").get_by_role("link", name="memory").click()
    expect(page).to_have_url(re.compile("resource=memory"))
    page.locator("#fold-table summary").click()
    expect(page.locator("#fold-table tbody td").first).to_contain_text("i")  # an amount of memory


def test_without_scripts_a_link_shows_the_table(open_page: OpenPage, demo: Cluster) -> None:
    """It leads to the same page, with the table open."""
    page = open_page(QUEUE, java_script_enabled=False)
    page.locator("#fold-table summary").click()
    page.get_by_role("link", name="Load the table").click()
    expect(page.get_by_role("group", name="Usage over time as a table").locator("tbody tr").first).to_be_visible()


def test_the_plot_follows_the_news(open_page: OpenPage, demo: Cluster) -> None:
    """A sample that arrives is drawn without a reload."""
    page = open_page(QUEUE)
    drawn(page)
    before = page.evaluate("document.querySelector('.js-plotly-plot').data[3].y.at(-1)")
    now = Now(0, {"cpu": Amount(200_000, 160_000, 320_000)})
    rows.add_sample(demo, "root.tenant-1.queue-b", now, timezone.now())
    news()
    page.evaluate(
        """(before) => new Promise((done, fail) => {
          setTimeout(fail, 30_000);
          const look = () => document.querySelector(".js-plotly-plot").data[3].y.at(-1) !== before
            ? done() : requestAnimationFrame(look);
          look();
        })""",
        before,
    )


def test_what_runs_and_waits_below_the_plot_follows_the_news_too(open_page: OpenPage, demo: Cluster) -> None:
    """Applications and asks stand below the plot, and are as fresh as the bars above it."""
    page = open_page(QUEUE)
    drawn(page)
    one = {"name": "brand-new", "namespace": "search", "pods": 3, "requests": {"cpu": 3000}}
    news(applications={"root.tenant-1.queue-b": [one]})
    page.get_by_text("brand-new").wait_for()
    assert page.locator("#work h2").all_inner_texts() == ["Borrowed and lent", "Pending pods", "Running applications"]


def test_sixty_queues_stay_one_page(open_page: OpenPage, live_server: Any) -> None:
    """A large tree is drawn, folds, and does not overflow."""
    tree: list[tuple[str, dict[str, Any]]] = [("root", {})]
    for team in range(10):
        tree.append((f"root.team-{team}", {"fence": True, "guaranteed": ("60", "240Gi")}))
        tree += [(f"root.team-{team}.q-{n}", {"guaranteed": ("10", "40Gi"), "max": ("20", "80Gi")}) for n in range(5)]
    rows.status(rows.cluster("demo", rows.revision("demo", tree)), queues={})
    page = open_page(TREE)
    assert page.locator("tr[data-path]").count() == 61
    page.get_by_role("link", name="Collapse team-3").click()
    expect(page.locator('[data-path="root.team-3.q-0"]')).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def frames(page: Page, look: str) -> None:
    """Keeps in ``window.looks`` what every frame of the next page shows, before it is painted."""
    page.add_init_script(
        f"""window.looks = [];
        const look = () => {{
          const found = {look};
          if (found != null && window.looks.at(-1) !== found) window.looks.push(found);
          requestAnimationFrame(look);
        }};
        requestAnimationFrame(look);
        window.moved = [];
        new PerformanceObserver((list) => window.moved.push(...list.getEntries().map(({{ value }}) => value)))
          .observe({{ type: "layout-shift", buffered: true }});"""
    )


@pytest.fixture
def many(live_server: Any) -> Cluster:
    """As many rows as are shown at once."""
    tree: list[tuple[str, dict[str, Any]]] = [("root", {})]
    tree += [(f"root.q-{number:03}", {"guaranteed": ("10", "40Gi"), "max": ("20", "80Gi")}) for number in range(180)]
    made = rows.cluster("demo", rows.revision("demo", tree))
    rows.status(made, queues={})
    ClusterStatus.objects.update(read_at=timezone.now() + timedelta(minutes=5), pass_at=timezone.now())
    return made


@pytest.mark.parametrize("width", [360, 1280])
def test_rows_are_painted_while_others_are_read_and_nothing_moves(
    open_page: OpenPage, many: Cluster, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times are the viewer's from the first frame on, and no frame moves what an earlier one showed.

    But for the one thing that was cut off in the middle of its text, wherever that is: less than a thousandth of what
    is seen.
    """
    # Compressed, the page would come at once.
    monkeypatch.setattr(Compression, "process_response", lambda _self, _request, response: response)
    page = open_page(TREE, width=width, timezone_id="Asia/Shanghai")
    frames(page, "document.querySelector('[data-pass] time')?.textContent || null")
    slow = {"offline": False, "latency": 0, "downloadThroughput": 300_000, "uploadThroughput": -1}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    page.reload()
    timing = "performance.getEntriesByType('navigation')[0].responseEnd"
    assert page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") < page.evaluate(timing)
    expect(page.locator("[data-zone]")).to_contain_text("Asia/Shanghai")
    at = ClusterStatus.objects.get().pass_at + timedelta(hours=8)  # type: ignore[operator]
    assert page.evaluate("window.looks") == [f"{at:%H:%M:%S}"]
    assert sum(page.evaluate("window.moved")) < 0.001


def test_headings_stand_where_they_will_stand_when_all_are_read(open_page: OpenPage, many: Cluster) -> None:
    """A page may be cut off anywhere while it is read, so also within the row of headings."""
    page = open_page(TREE)
    head = page.locator(".tree thead tr")
    places = """row => [...row.cells].map((cell) => {
      const text = document.createRange();
      text.selectNodeContents(cell);
      return JSON.stringify(text.getBoundingClientRect());
    })"""
    whole = head.evaluate(places)
    page.locator(".tree tbody").evaluate("rows => rows.replaceChildren()")
    for read in range(len(whole) - 1, 0, -1):
        head.evaluate("row => row.lastElementChild.remove()")
        assert head.evaluate(places) == whole[:read]


def test_that_a_page_is_not_live_is_there_from_the_first_frame(open_page: OpenPage, many: Cluster) -> None:
    """It is a wider button: shown later it would move what stands beside it."""
    page = open_page(TREE)
    page.get_by_role("button", name="Live refresh").click()
    frames(
        page,
        "document.querySelector('.refresh .off')"
        " && getComputedStyle(document.querySelector('.refresh .off')).display !== 'none'",
    )
    page.reload()
    expect(page.get_by_role("button", name="Live refresh")).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("window.looks") == [True]
    assert page.evaluate("window.moved") == []


def test_the_plot_fills_nothing_across_a_gap_and_hovers_over_what_is_known(open_page: OpenPage, demo: Cluster) -> None:
    """Two shapes, and no figure of what lies between used and guaranteed, which would be neither."""
    page = open_page(QUEUE)
    drawn(page)
    page.evaluate(
        """() => {
          const plot = document.querySelector(".js-plotly-plot");
          const over = plot.data.find((one) => one.meta === "over");
          const [a, b, c, d] = ["2026-01-01 00:00", "2026-01-01 00:10", "2026-01-01 01:00", "2026-01-01 01:10"];
          over.x = [a, b, b, a, null, c, d, d, c];
          over.y = [4, 4, 1, 1, null, 4, 4, 1, 1];
          const there = { "xaxis.range": [a, d], "yaxis.range": [0, 5] };
          return Plotly.relayout(plot, there).then(() => Plotly.redraw(plot));
        }"""
    )
    fills = page.locator(".js-plotly-plot .scatterlayer .js-fill")
    (shape,) = filter(None, fills.evaluate_all("(all) => all.map((one) => one.getAttribute('d'))"))
    assert shape.count("Z") == 2
    page.evaluate("Plotly.Fx.hover(document.querySelector('.js-plotly-plot'), { xval: '2026-01-01 00:05' })")
    told = page.locator(".js-plotly-plot .hoverlayer").text_content()
    assert "above the guarantee" not in (told or "")
