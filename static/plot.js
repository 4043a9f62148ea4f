// Draws usage over time with plotly: the figure comes as JSON, its colours from the stylesheet, its times in the
// viewer's zone. Redrawn when the page has news, when the theme changes, and when it was hidden meanwhile.
const box = document.querySelector("[data-plot]");
const config = { displayModeBar: false, responsive: true, doubleClick: "reset" };
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

function traceOf(trace) {
  const color = paint(trace.meta);
  const drawn = { ...trace, x: trace.x.map(local) };
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
  if (!figure) return;
  box.querySelector(":scope > p")?.remove();
  window.Plotly.react(box, figure.data.map(traceOf), layoutOf(figure.layout), config);
}

async function read() {
  const response = await fetch(box.dataset.plot, { headers: { Accept: "application/json" } });
  if (!response.ok) return;
  figure = await response.json();
  draw();
}

if (box) {
  await read();
  // A mark opens its decision.
  box.on?.("plotly_click", ({ points }) => {
    const url = points.map((point) => point.customdata).find(Boolean);
    if (url) location.assign(url);
  });
  document.addEventListener("themechange", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("htmx:afterSettle", ({ target }) => target.id === "live" && read());
}
