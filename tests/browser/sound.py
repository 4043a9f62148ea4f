"""What holds on every page however it is looked at: axe finds nothing, nothing hangs over, nothing is too small."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDTHS = (2560, 1280, 1024, 768, 360, 320)
_AXE = Axe()
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL = {"type": "tag", "values": _TAGS}
COLOURS = {"type": "rule", "values": ["color-contrast"]}
_OURS = {"exclude": [["#api-docs"]]}
"""All but what Swagger UI draws in its own way."""
_SMALL = """() => [...document.querySelectorAll("button:not(.vh), input, select, summary, .btn, .fold, nav a")]
  .filter((each) => each.checkVisibility() && each.type !== "hidden")
  .map((each) => [each, each.matches("[type=radio], [type=checkbox]") && each.closest("label")])
  .map(([each, label]) => [each.outerHTML.slice(0, 80), label || each])
  .map(([html, target]) => [html, target.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24).map(([html]) => html)"""
_CRAMPED = """() => [...document.querySelectorAll("p, dd, dt, li, td, th, span, b")]
  .filter((each) => each.checkVisibility() && [...each.childNodes].some((one) => one.nodeType === 3 && one.data.trim()))
  .filter((each) => !each.closest(".scroll, svg, #api-docs") && getComputedStyle(each).position !== "absolute")
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && box.width < 64 && box.height > 100)
  .map(([each]) => each.outerHTML.slice(0, 80))"""
"""Texts in a column of a few letters, in which words break."""
_OVERLAPPING = """() => {
  const apart = new Map();
  const isApart = (each) => {
    if (!apart.has(each)) {
      const { overflow, position } = getComputedStyle(each);
      apart.set(each, overflow !== "visible" || position !== "static");
    }
    return apart.get(each);
  };
  const clipped = (holder, box) => holder !== box && (isApart(holder) || clipped(holder.parentElement, box));
  const drawn = (each) => {
    const texts = document.createTreeWalker(each, NodeFilter.SHOW_TEXT), rects = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const holder = text.parentElement;
      if (!text.data.trim() || holder.closest(".vh, svg") || !holder.checkVisibility()) continue;
      if (clipped(holder, each)) continue; // it scrolls, or stands elsewhere
      const range = document.createRange();
      range.selectNode(text);
      rects.push(range.getBoundingClientRect());
    }
    const least = (name) => Math.min(...rects.map((rect) => rect[name]));
    const most = (name) => Math.max(...rects.map((rect) => rect[name]));
    return { left: least("left"), right: most("right"), top: least("top"), bottom: most("bottom") };
  };
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return [...document.querySelectorAll("main *")]
    .filter((each) => getComputedStyle(each).display === "grid" && each.checkVisibility() && !each.closest("svg"))
    .flatMap((grid) => {
      const boxes = [...grid.children].filter((each) => each.checkVisibility() && each.textContent.trim())
        .filter((each) => getComputedStyle(each).position === "static" && !each.matches(".vh, .scroll"))
        .map((each) => [each, drawn(each)]);
      return boxes.flatMap(([one, a], place) => boxes.slice(place + 1)
        .filter(([, b]) => over(a, b)).map(([other]) => [one.outerHTML.slice(0, 60), other.outerHTML.slice(0, 60)]));
    });
}"""
"""Neighbors in a grid whose texts lie on each other."""
_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def faults(page: Page, *, targets: bool = True) -> dict[str, Any]:
    """What is wrong with a page in either scheme and at any width: nothing, if all is well.

    It is loaded once, and waited for: before its stylesheet has come everything is too small. Without ``targets`` the
    sizes of what is clicked are not looked at.
    """
    page.wait_for_load_state()
    with _as_it_was(page):
        found: dict[str, Any] = {"small": targets and page.evaluate(_SMALL)}
        found |= {f"sideways, {width}": wider_than_its_window(page, width) for width in WIDTHS}
        for width, scheme in product((1280, 360), ("light", "dark")):
            _look(page, width, scheme)
            found |= {f"{what}, {width}": which for what, which in unreadable(page).items()}
            # Dark differs from light in its colours alone, so only they are looked at again.
            found[f"axe, {width}, {scheme}"] = violations(page, ALL if scheme == "light" else COLOURS)
    return {what: which for what, which in found.items() if which}


def unreadable(page: Page) -> dict[str, Any]:
    """Texts in a column of a few letters, and neighbors in a grid whose texts lie on each other."""
    return {"cramped": page.evaluate(_CRAMPED), "overlapping": page.evaluate(_OVERLAPPING)}


_NOTHING_BEHIND = "document.querySelector('.publish-bar') && scrollTo(0, document.body.scrollHeight)"
"""A bar that stays in view covers what one scrolls past; at the end of the page it stands in its own place."""


def violations(page: Page, rules: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """What axe finds, as it is looked at now: the rule, and the first elements that break it."""
    page.evaluate(_NOTHING_BEHIND)
    options = {"runOnly": rules, "resultTypes": ["violations"], "selectors": False}
    found = _AXE.run(page, _OURS, options).response["violations"]
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found]


def wider_than_its_window(page: Page, width: int) -> bool:
    """Whether the page scrolls sideways in a window of this width."""
    _look(page, width)
    return bool(page.evaluate(_WIDE))


def _look(page: Page, width: int, scheme: Any = None) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    if scheme:
        page.emulate_media(color_scheme=scheme)


@contextmanager
def _as_it_was(page: Page) -> Iterator[None]:
    size = page.viewport_size
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    yield
    if size:
        page.set_viewport_size(size)
    page.emulate_media(color_scheme="dark" if dark else "light")
