// Several cells at once: Shift with arrow keys or a click selects a range, which is filled, emptied and copied as in a
// spreadsheet; what is pasted from one fills cells from the one that one is in on.
import { shown } from "./draft-folds.js";
import { isTyped } from "./draft-grid.js";
import { grid, lineOf } from "./draft-rows.js";

const hint = document.getElementById("range");
let anchor = null;
let head = null; // the fields at two corners of the range

const lineOfFields = (body) => [...lineOf(body).querySelectorAll("td > [data-setting]")];
const bodyOf = (field) => field.closest("tbody");
const column = (field) => field.parentElement.cellIndex;

/** The fields of the range, in rows; of one cell, or none, an empty list. */
function range() {
  if (!anchor || !head || anchor === head) return [];
  const all = shown();
  const places = [anchor, head].map((field) => all.indexOf(bodyOf(field)));
  const [left, right] = [column(anchor), column(head)].sort((a, b) => a - b);
  return all
    .slice(Math.min(...places), Math.max(...places) + 1)
    .map((body) => lineOfFields(body).filter((field) => left <= column(field) && column(field) <= right))
    .filter((fields) => fields.length);
}

/** Shows the range, also after an answer of the server has put other cells in. */
export function mark() {
  const again = (field) => (field?.isConnected ? field : field && document.getElementById(field.id));
  anchor = again(anchor);
  head = again(head);
  for (const cell of grid.querySelectorAll("td[aria-selected]")) cell.removeAttribute("aria-selected");
  const fields = range().flat();
  for (const field of fields) field.parentElement.ariaSelected = "true";
  hint.querySelector("[data-alone]").hidden = Boolean(fields.length);
  hint.querySelector("[data-several]").hidden = !fields.length;
  const count = hint.querySelector("[data-count]");
  const text = count.dataset.count.replace("{n}", String(fields.length));
  if (fields.length && count.textContent !== text) count.textContent = text;
}

function forget() {
  if (!anchor) return;
  anchor = head = null;
  mark();
}

function extend(from, to) {
  if (!to) return;
  anchor ??= from;
  head = to;
  mark();
}

/** The field so many rows and columns from another. */
function beside(field, down, right) {
  const all = shown();
  const fields = lineOfFields(all[all.indexOf(bodyOf(field)) + down] ?? bodyOf(field));
  return fields.find((one) => column(one) === column(field) + right);
}

/** What a select has for a text that is pasted: its value, or the word that stands for it. */
function meant(field, text) {
  const same = (one) => one.trim().toLowerCase() === text.trim().toLowerCase();
  const option = [...(field.options ?? [])].find((one) => same(one.value) || same(one.textContent));
  return option ? option.value : text.trim();
}

const table = (text) => text.replace(/\r?\n$/, "").split(/\r?\n/).map((line) => line.split("\t"));

/** What each field is to say: `[field, text]`. Of what is pasted, how much found no field is told as well. */
function pasted(values, at) {
  const changes = [];
  let left = 0;
  values.forEach((line, down) =>
    line.forEach((text, right) => {
      const body = shown()[shown().indexOf(bodyOf(at)) + down];
      const field = body && lineOfFields(body).find((one) => column(one) === column(at) + right);
      if (field) changes.push([field, meant(field, text)]);
      else left += 1;
    }),
  );
  return { changes, left };
}

const filledDown = () => {
  const [first, ...others] = range();
  return first ? others.flatMap((fields) => fields.map((field, place) => [field, first[place].value.trim()])) : [];
};
const filled = (text) => range().flat().map((field) => [field, meant(field, text)]);

/** `fill(changes, left)` is done with what is to be changed. */
export function listen(fill) {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const done = (event, changes) => {
    event.preventDefault();
    event.stopPropagation();
    if (changes?.length) fill(changes, 0);
  };
  grid.addEventListener(
    "keydown",
    (event) => {
      const { key, shiftKey, target: at } = event;
      if (!at.matches("td > [data-setting]")) return;
      const several = range().length > 0;
      const command = event.ctrlKey || event.metaKey;
      if (shiftKey && step[key] && (several || step[key][0])) {
        extend(at, beside(head ?? at, ...step[key]));
        done(event);
      } else if (command && key.toLowerCase() === "d") done(event, filledDown());
      else if (command && key === "Enter" && several) done(event, filled(at.value));
      else if (key === "Delete" && several) done(event, filled(""));
      else if (key === "Escape" && several) {
        forget();
        done(event);
      } else if (step[key] || key === "Tab") forget();
    },
    { capture: true },
  );
  grid.addEventListener("pointerdown", (event) => {
    const at = event.target;
    const from = document.activeElement?.closest("#grid td > [data-setting]");
    if (!event.shiftKey || !from || !at.matches("td > [data-setting]")) return forget();
    event.preventDefault();
    extend(from, at);
  });
  grid.addEventListener("copy", (event) => {
    const fields = range();
    if (!fields.length) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", fields.map((line) => line.map((field) => field.value).join("\t")).join("\n"));
  });
  grid.addEventListener("paste", (event) => {
    const at = event.target.closest("td > [data-setting]");
    const values = table(event.clipboardData.getData("text/plain"));
    const single = values.length === 1 && values[0].length === 1;
    if (!at || (single && !range().length)) return;
    event.preventDefault();
    const { changes, left } = single ? { changes: filled(values[0][0]), left: 0 } : pasted(values, range()[0]?.[0] ?? at);
    fill(changes, left);
  });
  hint.addEventListener("click", ({ target: at }) => {
    if (at.closest("[data-fill]")) fill(filledDown(), 0);
    else if (at.closest("[data-empty]")) fill(filled(""), 0);
  });
}

/** Of changes those that say anything new. */
export const differing = (changes) =>
  changes.filter(([field, text]) => {
    field.value = text;
    return isTyped(field);
  });
