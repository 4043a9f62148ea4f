// A draft that is only looked at is stored with the first act in it. The page stays, and what it calls by their places
// then has keys: rows, fields, addresses.
import { retell, words } from "./draft-address.js";
import { fieldsIn } from "./draft-grid.js";
import { nameOf } from "./draft-folds.js";
import { rows } from "./draft-rows.js";

const page = document.getElementById("draft");

/** `was`, `now`: the page's addresses before and since; `keys`: of the rows, in the order of their places. */
export function adopt({ was, now, rows: keys }) {
  const keyAt = (place) => String(keys[Number(place) - 1] ?? "");
  for (const [name, text] of Object.entries(page.dataset)) if (text.startsWith(was)) page.dataset[name] = text.replace(was, now);
  for (const form of document.querySelectorAll("form[action], button[formaction]")) {
    for (const name of ["action", "formaction"]) {
      const address = form.getAttribute(name);
      if (address?.startsWith(was)) form.setAttribute(name, address.replace(was, now));
    }
  }
  for (const body of rows()) {
    const key = keyAt(body.dataset.row);
    if (body.dataset.above) body.dataset.above = keyAt(body.dataset.above);
    body.dataset.row = key;
    body.id = `q${key}`;
    if (nameOf(body)) nameOf(body).id = `n${key}`;
    for (const field of fieldsIn(body.rows[0])) field.id = `f${key}-${field.name}`;
  }
  const tools = document.querySelector("#draft-tools [name=queue]");
  if (tools) tools.value = keyAt(tools.value);
  for (const one of document.querySelectorAll("[data-stored]")) one.hidden = false;
  const next = words();
  const folded = next.getAll("folded").map(keyAt);
  next.delete("folded");
  for (const key of folded) next.append("folded", key);
  retell(now, next);
}
