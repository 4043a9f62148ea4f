// What empty cells say: what holds there all the same, by which queue above. It is dimmed, and never sent.
import { fieldsIn, grow, said } from "./draft-grid.js";
import { rows } from "./draft-rows.js";
import { state } from "./draft-server.js";

const NOTHING = ["", ""];

function say(field, [text, sentence]) {
  if (field.options) {
    const word = text || field.dataset.default;
    if (field.options[0].textContent !== word) field.options[0].textContent = word;
  } else if (field.placeholder !== (text || "–")) {
    field.placeholder = text || "–";
    grow(field, text);
  }
  if (field.title !== sentence) field.title = sentence;
}

/** Key of the row above -> what the rows below it were told last. */
const told = {};

/** Says it where it changed. `by_parent`: key of the row above -> setting -> [what holds, the same with where it is from]. */
export function inherit({ tag, by_parent: byParent }) {
  state.inherited = tag;
  const changed = new Set();
  for (const above of new Set([...Object.keys(told), ...Object.keys(byParent)])) {
    const text = JSON.stringify(byParent[above] ?? {});
    if (told[above] !== text) changed.add(above);
    told[above] = text;
  }
  for (const body of rows()) {
    if (!changed.has(body.dataset.above)) continue;
    const above = byParent[body.dataset.above] ?? {};
    for (const field of fieldsIn(body)) say(field, (said(field) === "" && above[field.name]) || NOTHING);
  }
}
