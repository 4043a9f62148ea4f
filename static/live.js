// Asks every two seconds whether there is news for #live, and only then swaps it: an unchanged page answers 304.
// Nothing is asked while the tab is hidden, nor while the reader holds the page still; coming back asks at once.
import { read, write } from "./store.js";

const EVERY_MS = 2000;
const live = () => document.getElementById("live");
const here = () => location.pathname + location.search;
// What the page itself was built from, so that the first question can already be answered by 304.
let seen = live()?.dataset.etag ? { url: here(), etag: live().dataset.etag, frame: live().dataset.frame } : null;
const MOST_SHOWN = 7000; // letters: what servers take as a header

const refresh = document.querySelector("[data-refresh]");
const held = () => refresh.getAttribute("aria-pressed") === "false";

function ask() {
  if (!document.hidden && live() && !held()) htmx.trigger(live(), "poll");
}

function holdStill(still) {
  refresh.ariaPressed = String(!still);
  document.documentElement.toggleAttribute("data-held", still);
}

holdStill(read("updates") === "held");
refresh.addEventListener("click", () => {
  holdStill(!held());
  write("updates", held() ? "held" : "go");
  ask();
});

/** What stands there, where a page can be told its rows one by one: what is around them, then each row's digest. */
function rowsShown() {
  if (!seen?.frame || seen.url !== here()) return null;
  const shown = [seen.frame, ...[...live().querySelectorAll("[data-digest]")].map((row) => row.dataset.digest)].join(" ");
  return shown.length <= MOST_SHOWN ? shown : null;
}

function moveTimes(xhr) {
  for (const [header, times] of [["X-Read-At", "time[data-read]"], ["X-Pass-At", "[data-pass] time"]]) {
    const at = xhr.getResponseHeader(header);
    if (!at) continue;
    for (const time of document.querySelectorAll(times)) {
      time.dateTime = at;
      time.title = `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
    }
  }
}

document.addEventListener("htmx:configRequest", ({ detail, target }) => {
  if (target.id !== "live") return;
  // The address holds the filters, the folds and the range: the news must be of the page that is shown.
  detail.path = here();
  if (seen?.url === here()) detail.headers["If-None-Match"] = seen.etag;
  const shown = rowsShown();
  if (shown) detail.headers["X-Rows-Shown"] = shown;
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "live" && detail.xhr.responseURL.includes("/sign-in/")) {
    detail.shouldSwap = false;
    location.reload();
  }
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { xhr, target } = detail;
  if (target?.id !== "live" || !xhr) return;
  document.body.toggleAttribute("data-offline", xhr.status === 0 || xhr.status >= 500);
  moveTimes(xhr);
  const etag = xhr.getResponseHeader("ETag");
  const frame = xhr.getResponseHeader("X-Rows-Frame") ?? (seen?.etag === etag ? seen.frame : null);
  if (etag) seen = { url: here(), etag, frame };
});
document.addEventListener("htmx:sendError", ({ detail }) => {
  if (detail.target?.id === "live") document.body.setAttribute("data-offline", "");
});
document.addEventListener("visibilitychange", ask);
setInterval(ask, EVERY_MS);
