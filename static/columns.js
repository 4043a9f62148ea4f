// Which columns of a table are shown: chosen from a list beside its heading, kept in this browser. A table says
// data-columns="its name", its heads data-col="theirs", and the place of the list data-columns-of="the table's name".
import { read, write } from "./store.js";

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

const key = (name) => `columns-${name}`;
const hiddenOf = (name) => new Set((read(key(name)) ?? "").split(" ").filter(Boolean));
const tables = () => [...document.querySelectorAll("table[data-columns]")];
const headsOf = (table) => [...table.querySelectorAll("thead th[data-col]")];

function apply() {
  const rules = tables().flatMap((table) => {
    const hidden = hiddenOf(table.dataset.columns);
    return headsOf(table)
      .filter((head) => hidden.has(head.dataset.col))
      .map((head) => `table[data-columns="${table.dataset.columns}"] tr > :nth-child(${head.cellIndex + 1}) { display: none !important; }`);
  });
  sheet.replaceSync(rules.join("\n"));
}

function choose(name, column, shown) {
  const hidden = hiddenOf(name);
  if (shown) hidden.delete(column);
  else hidden.add(column);
  write(key(name), [...hidden].join(" "));
  apply();
}

function offer(place) {
  const name = place.dataset.columnsOf;
  const table = tables().find((one) => one.dataset.columns === name);
  place.hidden = !table;
  if (!table) return;
  const list = place.querySelector("fieldset");
  const hidden = hiddenOf(name);
  const boxes = headsOf(table).map((head) => {
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: !hidden.has(head.dataset.col) });
    box.addEventListener("change", () => choose(name, head.dataset.col, box.checked));
    const label = document.createElement("label");
    label.append(box, " ", head.title || head.textContent.replace(/[▾▴]/u, "").trim());
    return label;
  });
  list.replaceChildren(list.querySelector("legend"), ...boxes);
}

const refresh = () => {
  apply();
  for (const place of document.querySelectorAll("[data-columns-of]")) if (!place.contains(document.activeElement)) offer(place);
};
document.addEventListener("htmx:afterSwap", refresh);
refresh();
