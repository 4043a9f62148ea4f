// The keyboard in the grid: arrows go from cell to cell, letters on a queue's name act on it.
// Tab goes along one row and then leaves the grid, however many rows there are.
import { fold, nameOf, parentOf, shown, unfoldAll } from "./draft-folds.js";
import { fieldsIn, makeCurrent } from "./draft-grid.js";
import { grid, rows } from "./draft-rows.js";

const ACTS = { a: "add", F2: "rename", m: "move", c: "copy", Delete: "delete" };
let current = rows()[0] ?? null;

/** The row that one is in, or was in last. */
export const currentRow = () => (current?.isConnected ? current : rows()[0]);

const stops = (body) => [...body.rows[0].querySelectorAll("a.name, [data-setting]")];

function enter(body) {
  if (body === current || !body) return;
  if (current?.isConnected) makeCurrent(current, false);
  makeCurrent(body, true);
  current = body;
  const queue = document.querySelector("#draft-tools [name=queue]");
  if (queue) queue.value = body.dataset.row;
}

const atStart = (field) => field.options || (field.selectionStart === 0 && field.selectionEnd === 0);
const atEnd = (field) => field.options || (field.selectionStart === field.value.length && field.selectionEnd === field.value.length);

/** The row that is shown so many further down. */
function beside(body, by) {
  const all = shown();
  return all[all.indexOf(body) + by];
}

/** What a key does to the tree from a queue's name, as in every treegrid. True where it did anything. */
function steer(key, body) {
  const expanded = body.rows[0].getAttribute("aria-expanded");
  if (key === "ArrowRight" && expanded === "false") fold(body, false);
  else if (key === "ArrowLeft" && expanded === "true") fold(body, true);
  else if (key === "ArrowLeft") nameOf(parentOf(body))?.focus();
  else if (key === "Home") nameOf(shown()[0]).focus();
  else if (key === "End") nameOf(shown().at(-1)).focus();
  else if (key === "*") unfoldAll();
  else return false;
  return true;
}

/** Where a key leads from a stop of the first line of a row; null: nowhere. */
function target(key, from, body) {
  const line = stops(body);
  const column = line.indexOf(from);
  const other = beside(body, key === "ArrowUp" ? -1 : 1);
  const isField = "value" in from;
  switch (key) {
    case "ArrowUp":
    case "ArrowDown":
      return from.options || !other ? null : stops(other)[column];
    case "ArrowLeft":
      return isField && !atStart(from) ? null : line[column - 1];
    case "ArrowRight":
      return isField && !atEnd(from) ? null : line[column + 1];
    default:
      return null;
  }
}

export function listen(act, undo) {
  if (current) makeCurrent(current, true);
  grid.addEventListener("focusin", ({ target: at }) => enter(at.closest("tbody")));
  grid.addEventListener("keydown", (event) => {
    const { key, target: at } = event;
    const body = at.closest("tbody");
    if (event.altKey || event.ctrlKey || event.metaKey || !body) return;
    if (key === "Escape") {
      if (undo(at, body)) event.preventDefault();
      return;
    }
    if (!body.rows[0].contains(at)) return;
    if (at.matches("a.name") && ACTS[key]) {
      event.preventDefault();
      act(body.dataset.row, ACTS[key]);
      return;
    }
    if (at.matches("a.name") && steer(key, body)) return event.preventDefault();
    const next = target(key, at, body);
    if (!next) return;
    event.preventDefault();
    next.focus();
    if (next.select && fieldsIn(body.parentElement).length) next.select();
  });
}
