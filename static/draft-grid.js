// The grid as it stands in the page: what is typed and not saved yet, and how an answer is put in without touching that.
import { grid, putAfter, putLast, rows } from "./draft-rows.js";
import { reshown, state, token } from "./draft-server.js";

/** What the server says that a field says. */
export const said = (field) => (field.options ? (([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value ?? "") : field.defaultValue);

export function setSaid(field, text) {
  if (field.options) for (const option of field.options) option.defaultSelected = option.value === text;
  else field.defaultValue = text;
}

export const isTyped = (field) => field.value.trim() !== said(field);
export const fieldsIn = (place) => [...place.querySelectorAll("[data-setting]")];

/** Characters that a field of the grid has room for by itself. */
const FITS = 9;

/** Fields in which somebody typed or chose: of thousands these alone may hold what is not saved. */
const touched = new Set(fieldsIn(document.getElementById("draft")).filter(isTyped)); // before this script was there

/** Has a field looked at, though nobody typed in it. */
export const touch = (field) => touched.add(field);
document.addEventListener("input", ({ target }) => target.matches("#draft [data-setting]") && touch(target));

/** The fields that hold what is not saved. */
export function unsaved() {
  for (const field of touched) if (!field.isConnected) touched.delete(field);
  return [...touched].filter(isTyped);
}

export const keeps = (place) => [...place.querySelectorAll("input:not([type=hidden]), select, textarea")].some(isTyped) || place.querySelector(".problem[data-now]");

/** Fields work once this module does, and only the row that one is in is in the tab order. */
export function enliven(body, isCurrent = false) {
  for (const field of fieldsIn(body)) {
    field.disabled = false;
    field.removeAttribute("form");
  }
  for (const cell of body.querySelectorAll(".errrow > td")) cell.style.gridColumn = `span ${cell.colSpan}`;
  makeCurrent(body, isCurrent);
}

/** The row that one is in shows it, and it alone is in the tab order. */
export function makeCurrent(body, is) {
  if (is) body.rows[0].ariaCurrent = "true";
  else body.rows[0].removeAttribute("aria-current");
  for (const one of body.rows[0].querySelectorAll("a.name, [data-setting]")) one.tabIndex = is ? 0 : -1;
}

/** An amount is never cut: the columns are as wide as the longest that does not fit by itself. */
export function fit() {
  const longest = Math.max(0, ...[...grid.querySelectorAll("td > input[size]")].map((field) => field.size));
  if (longest) grid.style.setProperty("--amount", `calc(${longest}ch + 2rem)`);
  else grid.style.removeProperty("--amount");
}

/** Makes room for a text in a field, and in its column. */
export function grow(field, text) {
  if (text.length <= Math.max(FITS, field.hasAttribute("size") && field.size)) return;
  field.size = text.length;
  fit();
}

grid.addEventListener("input", ({ target: field }) => field.matches("td > input") && grow(field, field.value));
fit();

function parsed(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  // It is masked anew in every answer, and would make all forms look changed.
  for (const one of holder.content.querySelectorAll("[name=csrfmiddlewaretoken]")) one.setAttribute("value", token());
  return holder.content.firstElementChild;
}

function copyAttributes(from, to) {
  for (const { name } of [...to.attributes]) if (!from.hasAttribute(name)) to.removeAttribute(name);
  for (const { name, value } of from.attributes) if (to.getAttribute(name) !== value) to.setAttribute(name, value);
}

/** Cell by cell, so that a field in which somebody types is never touched. */
function patch(old, fresh) {
  copyAttributes(fresh, old);
  copyAttributes(fresh.rows[0], old.rows[0]);
  const cells = [...fresh.rows[0].cells];
  cells.forEach((cell, index) => {
    const had = old.rows[0].cells[index];
    if (!had) old.rows[0].append(cell);
    else if (!keeps(had) && !had.isEqualNode(cell)) had.replaceWith(cell);
  });
  while (old.rows[0].cells.length > cells.length) old.rows[0].lastElementChild.remove();
  const below = [...old.rows].slice(1);
  if (below.some(keeps)) return;
  const wanted = [...fresh.rows].slice(1);
  if (below.length === wanted.length && below.every((row, index) => row.isEqualNode(wanted[index]))) return;
  for (const row of below) row.remove();
  old.append(...wanted);
}

function putRow(pk, html, current) {
  const fresh = parsed(html);
  const old = document.getElementById(`q${pk}`);
  enliven(fresh, old ? old === current : false);
  if (old) patch(old, fresh);
  else putLast(fresh);
}

/** Of numbers in a row, the places of the most that rise: what stands there can stay where it is. */
function rising(numbers) {
  const ends = []; // of the series of each length, where the lowest last number stands
  const before = [];
  numbers.forEach((number, at) => {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1];
    ends[low] = at;
  });
  const found = new Set();
  for (let at = ends.at(-1); at !== undefined; at = before[at]) found.add(at);
  return found;
}

/** Moves as few rows as can be: each that is moved is styled and laid out anew. */
function putInOrder(order) {
  const turns = new Map(order.map((pk, turn) => [`q${pk}`, turn]));
  for (const body of rows()) if (!turns.has(body.id) && !keeps(body)) body.remove();
  const bodies = rows().filter((body) => turns.has(body.id));
  const places = rising(bodies.map((body) => turns.get(body.id)));
  const staying = new Set(bodies.filter((_, place) => places.has(place)));
  let at = null;
  for (const pk of order) {
    const body = document.getElementById(`q${pk}`);
    if (!staying.has(body)) putAfter(at, body);
    at = body;
  }
}

function putPart(name, html) {
  const old = document.getElementById(`draft-${name}`);
  const fresh = parsed(html);
  if (old && fresh && !keeps(old) && !old.isEqualNode(fresh)) old.replaceWith(fresh);
}

/** Does what changes the page, then brings the keyboard back to where it was: asking earlier has all of it laid out twice. */
function keepingPlace(change) {
  const { id: focused, selectionStart: from, selectionEnd: to, value } = document.activeElement ?? {};
  change();
  const field = focused && document.activeElement === document.body ? document.getElementById(focused) : null;
  field?.focus({ preventScroll: true });
  // What is marked is about to be typed over, also where it says something else by now.
  if (field?.setSelectionRange && to > from) from === 0 && to === value.length ? field.select() : field.setSelectionRange(from, to);
}

function putEach(parts) {
  for (const [name, html] of Object.entries(parts)) putPart(name, html);
  document.dispatchEvent(new Event("news"));
}

/** Puts parts of the page in; the keyboard's place is kept. */
export function putParts(parts) {
  keepingPlace(() => putEach(parts));
}

/** Puts an answer of the server in: rows that differ, their order, the parts beside them; then `more` is done to them. */
export function put(answer, current, more) {
  keepingPlace(() => {
    state.version = String(answer.version);
    state.whole = Boolean(answer.parts);
    if (state.whole) state.tag = answer.tag;
    if (answer.order || Object.keys(answer.rows).length) reshown();
    for (const [pk, html] of Object.entries(answer.rows)) putRow(pk, html, current);
    if (answer.order) putInOrder(answer.order);
    if (answer.parts) putEach(answer.parts);
    fit();
    more();
  });
}
