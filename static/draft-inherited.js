// What empty cells say: what holds there all the same, by which queue above. It is dimmed, and never sent.
import { fieldsIn, grid, said } from "./draft-grid.js";
import { state } from "./draft-server.js";

const NOTHING = ["", ""];

function say(field, [text, sentence]) {
  if (field.options) {
    const word = text || field.dataset.default;
    if (field.options[0].textContent !== word) field.options[0].textContent = word;
  } else if (field.placeholder !== (text || "–")) field.placeholder = text || "–";
  if (field.title !== sentence) field.title = sentence;
}

/** Says it in every row. `by_parent`: key of the row above -> setting -> [what holds, the same with where it is from]. */
export function inherit({ tag, by_parent: byParent }) {
  state.inherited = tag;
  for (const body of grid.tBodies) {
    const above = byParent[body.dataset.above] ?? {};
    for (const field of fieldsIn(body)) say(field, (said(field) === "" && above[field.name]) || NOTHING);
  }
}
