// Folding: what is folded is in the address. What that hides, and where each row stands among its siblings, is worked out
// here, after every answer of the server too, which therefore need not send the rows for it.
import { say, words } from "./draft-address.js";
import { lineOf, measure, rows } from "./draft-rows.js";

const folded = () => new Set(words().getAll("folded"));

export const nameOf = (body) => body && lineOf(body).querySelector("a.name");
export const shown = () => rows().filter((body) => !body.hidden);

/** The row of the queue above; null where that is not shown. */
export function parentOf(body) {
  return document.getElementById(`q${body.dataset.above}`);
}

/** Whether a row lies below another, or is it. */
export function isInside(body, top) {
  let at = body;
  while (at && at !== top) at = parentOf(at);
  return Boolean(at);
}

function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Hides what lies below folded rows, and numbers siblings. */
export function draw() {
  const shut = folded();
  const siblings = [[]]; // of each level, those of the subtree that one is in
  let hiding = Infinity;
  const number = (list) => list.forEach((one, index) => {
    set(one, "aria-posinset", String(index + 1));
    set(one, "aria-setsize", String(list.length));
  });
  for (const body of rows()) {
    const at = lineOf(body);
    const own = Number(at.getAttribute("aria-level"));
    if (own <= hiding) hiding = Infinity;
    if (body.hidden !== hiding < own) body.hidden = hiding < own;
    for (const list of siblings.splice(own + 1)) number(list);
    (siblings[own] ??= []).push(at);
    if (!at.hasAttribute("aria-expanded")) continue;
    const isShut = shut.has(body.dataset.row);
    set(at, "aria-expanded", String(!isShut));
    if (isShut && hiding === Infinity) hiding = own;
  }
  for (const list of siblings) number(list ?? []);
  measure();
}

function keep(shut) {
  const next = words();
  next.delete("folded");
  for (const row of shut) next.append("folded", row);
  say(next);
  draw();
}

/** Folds a row that holds others, or unfolds it. The keyboard never stays in what is hidden. */
export function fold(body, isShut) {
  const shut = folded();
  if (isShut) shut.add(body.dataset.row);
  else shut.delete(body.dataset.row);
  keep(shut);
  if (document.activeElement?.closest("tbody")?.hidden) nameOf(body).focus();
}

export const unfoldAll = () => keep([]);

/** Unfolds what hides an element. */
export function reveal(element) {
  const body = element?.closest("#grid tbody");
  if (!body?.hidden) return;
  const shut = folded();
  for (let at = parentOf(body); at; at = parentOf(at)) shut.delete(at.dataset.row);
  keep(shut);
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("a[href]");
  if (link?.matches("#grid a.fold")) {
    event.preventDefault();
    const body = link.closest("tbody");
    fold(body, lineOf(body).getAttribute("aria-expanded") === "true");
  } else if (link?.hash) reveal(document.getElementById(decodeURIComponent(link.hash.slice(1))));
});
