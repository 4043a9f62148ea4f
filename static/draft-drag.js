// Moving by drag: a queue's name is dragged onto the row that it is to lie below. The dialog (m) does the same.
import { grid } from "./draft-rows.js";
import { isInside, nameOf, parentOf } from "./draft-folds.js";

const told = document.getElementById("drag-said");
let dragged = null;

/** What dropping on a row would do: the name of a sentence, `will` where it moves, `orphans` where pods then have no queue. */
function outcome(body) {
  if (isInside(body, dragged)) return "inside";
  if (body === parentOf(dragged)) return "there";
  if (!("takes" in body.dataset)) return "not";
  return "pods" in body.dataset ? "orphans" : "will";
}

function mark(body, how) {
  const old = grid.querySelector("tbody[data-drop]");
  if (old !== body) delete old?.dataset.drop;
  if (body) body.dataset.drop = how;
  const sentence = body ? told.dataset[how] : "";
  const names = { name: nameOf(dragged)?.textContent ?? "", parent: nameOf(body)?.textContent ?? "", pods: body?.dataset.pods ?? "" };
  const text = sentence.replace(/\{(\w+)\}/g, (_, key) => names[key]);
  if (told.textContent !== text) told.textContent = text;
}

/** `move(row, parent, was)` is done on a drop. */
export function listen(move) {
  grid.addEventListener("dragstart", (event) => {
    const name = event.target.closest?.("a.name");
    const body = name?.closest("tbody");
    if (!body) return;
    if (!parentOf(body) || !body.querySelector("[data-setting]")) return event.preventDefault(); // the root; not one's own
    dragged = body;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", name.textContent);
  });
  grid.addEventListener("dragover", (event) => {
    const body = event.target.closest("#grid tbody");
    if (!dragged || !body) return;
    const how = outcome(body);
    mark(body, how);
    if (how !== "will" && how !== "orphans") return; // so the browser shows that it can't be dropped here
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
  });
  grid.addEventListener("dragleave", (event) => {
    if (dragged && !grid.contains(event.relatedTarget)) mark(null);
  });
  grid.addEventListener("drop", (event) => {
    const body = event.target.closest("#grid tbody");
    if (!dragged || !body) return;
    event.preventDefault();
    move(dragged.dataset.row, body.dataset.row, dragged.dataset.above);
  });
  document.addEventListener("dragend", () => {
    if (dragged) mark(null);
    dragged = null;
  });
}
