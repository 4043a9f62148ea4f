// Times in the viewer's zone. <time data-clock> shows a time of day or a date; <time data-ago> and <time data-for>
// count on and <time data-left> counts down, in the words of the page's language that #units carries.
const units = JSON.parse(document.getElementById("units")?.textContent ?? "{}");
const lang = document.documentElement.lang || "en";
const clock = new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(lang, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dated = new Intl.DateTimeFormat(lang, { year: "numeric", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const TIMES = "time:is([data-clock], [data-ago], [data-for], [data-left])";
const fill = (pattern, values) => pattern.replace(/%\((\w+)\)s/g, (_, name) => values[name]);

export function duration(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 90) return fill(units.s, { n: s });
  if (s < 5400) return fill(units.min, { n: Math.floor(s / 60) });
  if (s < 129600) return fill(units.h, { n: Math.floor(s / 3600) });
  return fill(units.d, { n: Math.floor(s / 86400) });
}

function write(time, now) {
  const at = new Date(time.dateTime);
  let text;
  const away = Math.abs(now - at);
  if ("clock" in time.dataset) text = (away < 43_200_000 ? clock : away < 15_552_000_000 ? day : dated).format(at);
  else {
    text = duration(("left" in time.dataset ? at - now : now - at) / 1000);
    if ("ago" in time.dataset) text = fill(units.ago, { time: text });
  }
  if (time.textContent !== text) time.textContent = text;
}

/** Writes every time below `root` as it reads now. */
export function writeTimes(root = document) {
  const now = new Date();
  // By their name: browsers find those without looking at everything, which on a long page takes longer each second.
  for (const time of root.getElementsByTagName("time")) if (time.matches(TIMES)) write(time, now);
}

function tellZone() {
  const zone = document.querySelector("[data-zone]");
  if (!zone) return;
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  zone.textContent = name === "UTC" ? zone.dataset.utc : fill(zone.dataset.zone, { zone: name });
  zone.hidden = false;
}

// Where the page is painted while it is still read: each time before it is painted, and again if more of its text comes.
const reading = new MutationObserver((changes) => {
  const now = new Date();
  for (const { target, addedNodes } of changes) {
    for (const node of [target, ...addedNodes]) {
      if (node.matches?.(TIMES)) write(node, now);
      else if (node !== target && node.matches?.("[data-zone]")) tellZone();
    }
  }
});
function wholeRead() {
  reading.disconnect();
  tellZone();
  writeTimes();
}
if (document.readyState === "loading") {
  reading.observe(document, { childList: true, subtree: true });
  document.addEventListener("DOMContentLoaded", wholeRead);
  writeTimes();
} else wholeRead();
setInterval(() => document.hidden || writeTimes(), 1000);
// Told once for each part that was put in, before any of it is painted; all of them are looked at once.
let due = false;
function putIn() {
  if (due) return;
  due = true;
  queueMicrotask(() => {
    due = false;
    writeTimes();
  });
}
for (const swap of ["htmx:afterSwap", "htmx:oobAfterSwap"]) document.addEventListener(swap, putIn);
document.addEventListener("news", () => writeTimes());
