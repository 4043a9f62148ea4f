// Draws usage over time with plotly: the figure comes as JSON, its colours from the stylesheet, its times in the
// viewer's zone. Redrawn when the page has news, when the theme changes, and when it was hidden meanwhile.
// Where the plot says data-zooms, a part that is chosen becomes the address, and the server draws it more finely.
import { locale } from "./plot-dates.js";

const EVERY_MS = 10_000;
let box = document.querySelector("[data-plot]");
let figure = null;

function paint(kind) {
  const probe = document.createElement("i");
  probe.className = `paint-${kind}`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const faint = (color) => color.replace(/^rgb\((.*)\)$/, "rgba($1, 0.32)");
const pad = (n) => String(n).padStart(2, "0");

function local(iso) {
  const at = new Date(iso);
  const date = [at.getFullYear(), pad(at.getMonth() + 1), pad(at.getDate())].join("-");
  return `${date} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(pad).join(":")}`;
}

/** The exact time of what plotly writes of an axis in the viewer's zone, to the second. */
function written(text) {
  const [year, month, ...rest] = text.match(/\d+/g).slice(0, 6).map(Number);
  return `${new Date(year, month - 1, ...rest).toISOString().slice(0, 19)}Z`;
}

function traceOf(trace) {
  const color = paint(trace.meta);
  const drawn = { ...trace, x: trace.x.map((at) => at && local(at)) };
  if (trace.line) drawn.line = { ...trace.line, color };
  if (trace.fill) drawn.fillcolor = faint(color);
  if (trace.marker) drawn.marker = { ...trace.marker, color, line: { ...trace.marker.line, color: paint("paper") } };
  return drawn;
}

function layoutOf(layout) {
  const grid = paint("grid");
  const axis = { gridcolor: grid, linecolor: paint("max"), zerolinecolor: paint("max"), tickcolor: grid };
  return {
    ...layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: paint("text"), size: 12 },
    hoverlabel: { bgcolor: paint("float"), bordercolor: grid, font: { color: paint("guaranteed") } },
    xaxis: { ...layout.xaxis, ...axis, showgrid: false, range: layout.xaxis.range.map(local) },
    yaxis: { ...layout.yaxis, ...axis },
    uirevision: "kept",
  };
}

function draw() {
  if (!figure || !box) return;
  const doubleClick = "zooms" in box.dataset ? false : "reset";
  const config = { displayModeBar: false, responsive: true, doubleClick, locale: locale() };
  box.querySelector(":scope > p")?.remove();
  window.Plotly.react(box, figure.data.map(traceOf), layoutOf(figure.layout), config);
}

async function read() {
  const asked = box;
  const response = await fetch(asked.dataset.plot, { headers: { Accept: "application/json" } });
  if (!response.ok || asked !== box) return;
  figure = await response.json();
  draw();
}

/** Shows another time or resource: its part of the page that the address leads to, in place. */
async function go(address) {
  const response = await fetch(address);
  const part = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("usage");
  if (!response.ok || !part) return location.assign(address);
  history.pushState(null, "", address);
  if (box) window.Plotly.purge(box);
  document.getElementById("usage").replaceWith(part);
  window.htmx.process(part);
  document.dispatchEvent(new Event("news"));
  box = part.querySelector("[data-plot]");
  figure = null;
  if (box) await start();
}

function zoom(change) {
  const [since, until] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  if (!since || !until) return;
  const asked = new URLSearchParams(box.dataset.plot.split("?")[1]);
  asked.delete("range");
  asked.set("from", written(since));
  asked.set("to", written(until));
  if (asked.get("from") < asked.get("to")) go(`?${asked}`);
}

async function start() {
  await read();
  // A mark opens its decision.
  box.on?.("plotly_click", ({ points }) => {
    const url = points.map((point) => point.customdata).find(Boolean);
    if (url) location.assign(url);
  });
  if (!("zooms" in box.dataset)) return;
  box.on?.("plotly_relayout", zoom);
  box.on?.("plotly_doubleclick", () => document.querySelector("#usage [data-wider]")?.click());
}

if (box) await start();
document.addEventListener("themechange", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
document.addEventListener("htmx:afterSettle", ({ target }) => target.id === "live" && box && read());
document.addEventListener("click", (event) => {
  const link = event.target.closest('#usage nav a[href^="?"]');
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
if (document.getElementById("usage")) window.addEventListener("popstate", () => location.reload());
const held = () => document.querySelector("[data-refresh]")?.ariaPressed === "false";
setInterval(() => !document.hidden && !held() && box && "moves" in box.dataset && read(), EVERY_MS);
