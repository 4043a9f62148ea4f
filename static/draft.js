// The editor of a draft. A field is saved when it is left; what others change comes in within two seconds; nothing that
// is typed is lost: what can't be saved stays in its field, says so, and is tried again.
import { adopt } from "./draft-begin.js";
import { closed, query, say as sayInAddress } from "./draft-address.js";
import { differing, listen as listenForRanges, mark } from "./draft-cells.js";
import { enliven, fieldsIn, grow, isTyped, keeps, put, putParts, said, setSaid, touch, unsaved } from "./draft-grid.js";
import { listen as listenForDrags } from "./draft-drag.js";
import { draw, nameOf, reveal } from "./draft-folds.js";
import { inherit } from "./draft-inherited.js";
import { currentRow, listen } from "./draft-keys.js";
import { grid, rows } from "./draft-rows.js";
import "./draft-reason.js";
import { busy, givingWay, hasNews, inOrder, read, send, sendAct, state } from "./draft-server.js";

const EVERY_MS = 2000;
const SOON_MS = 50;
const page = document.getElementById("draft");
const mayEdit = Boolean(document.getElementById("publish-form"));
const rulesTyped = () => [...document.querySelectorAll(".rules-form")].some(keeps);
let polling = 0;
let completing = 0;

// Saving ----------------------------------------------------------------------------------------
const problemOf = (place) => place.querySelector(":scope > .problem");

function say(field, html) {
  problemOf(field.parentElement)?.remove();
  const holder = document.createElement("template");
  holder.innerHTML = html;
  field.after(holder.content);
}

const unsaidOf = (kind) => document.getElementById(`t-${kind}`).innerHTML;

function gone() {
  rest();
  if (!document.querySelector("#draft-gone")) {
    const notice = document.getElementById("t-gone").content.firstElementChild.cloneNode(true);
    notice.id = "draft-gone";
    page.before(notice);
  }
}

function save(field) {
  const text = field.value.trim();
  if (!mayEdit || !isTyped(field) || field.dataset.saving === text) return;
  touch(field);
  field.dataset.saving = text;
  doing(async () => {
    const was = said(field); // only now: what was typed here before may have been on its way
    const data = new FormData();
    data.set("row", field.closest("[data-row]").dataset.row);
    data.set(field.name, text);
    data.set(`was:${field.name}`, was);
    const { kind, answer } = await (grid.contains(field) ? sendAct : send)(page.dataset.edit, data);
    delete field.dataset.saving;
    field.dataset.tried = text;
    if (kind === "done") {
      setSaid(field, text);
      tell("");
      problemOf(field.parentElement)?.remove();
      show({ ...answer, focus: "" }); // one has gone on already
    } else if (kind === "gone") gone();
    else say(field, kind === "refused" ? answer.html : unsaidOf(kind));
  });
}

/** Sets many fields as one act: what was pasted, filled or emptied. `left`: values that found no field. */
function fill(changes, left) {
  const cells = differing(changes);
  for (const [field, text] of cells) {
    touch(field);
    grow(field, text);
    field.dataset.saving = text;
  }
  if (!cells.length) return tell(left ? unplaced(left) : "");
  doing(async () => {
    const data = new FormData();
    const sent = cells.map(([field, text]) => [Number(field.closest("[data-row]").dataset.row), field.name, text, said(field)]);
    data.set("cells", JSON.stringify(sent));
    const { kind, answer } = await sendAct(page.dataset.cells, data);
    for (const [field] of cells) delete field.dataset.saving;
    if (kind === "done") {
      for (const [field, text] of cells) setSaid(field, text);
      tell(left ? unplaced(left) : "");
      show({ ...answer, focus: "" });
    } else if (kind === "gone") gone();
    else if (kind === "refused") {
      for (const [field] of cells) field.value = said(field);
      tell(answer.html);
      refresh();
    } else {
      const [first] = cells[0]; // they are kept in their fields, and saved one by one once there is a server again
      say(first, unsaidOf(kind));
    }
  });
}

const unplaced = (left) => `<span class="err">${document.getElementById("range").dataset.unplaced.replace("{n}", String(left))}</span>`;

function keepOrTake(button) {
  const problem = button.closest(".problem");
  const field = problem.parentElement.querySelector("[data-setting]");
  const { now } = problem.dataset;
  problem.remove();
  if (button.matches("[data-take]")) field.value = now;
  setSaid(field, now);
  if (button.matches("[data-take]")) refresh();
  else save(field);
  field.focus();
}

/** Escape: what was typed here is undone, or what is unfolded is folded. True where there was anything to do. */
function undo(at, body) {
  if (at.matches("[data-setting]") && isTyped(at)) {
    at.value = said(at);
    problemOf(at.parentElement)?.remove();
    return true;
  }
  if (body.rows[0].classList.contains("unfolded")) {
    unfold();
    return true;
  }
  return false;
}

// News ------------------------------------------------------------------------------------------
function show(answer) {
  if (answer.started) adopt(answer.started);
  put(answer, currentRow(), () => {
    draw();
    mark();
    if (answer.inherited) inherit(answer.inherited);
    if (!answer.focus) return;
    reveal(document.getElementById(answer.focus));
    document.getElementById(answer.focus)?.focus();
  });
  markWhole();
  if (state.whole) foretell();
}

async function look(ask, signal) {
  const { kind, answer } = await ask(page.dataset.news, new FormData(), query(), signal);
  if (kind === "done") show(answer);
  if (kind === "gone") gone();
}

const refresh = (signal) => inOrder(() => look(send, signal?.()));

/** What stands beside the tree says so where it is of an earlier version. */
function markWhole() {
  for (const panel of document.querySelectorAll("#draft > .panel")) panel.ariaBusy = state.whole ? null : "true";
}

/** Does an act. What is not answered with it is asked for after it, and given up again for the next. */
const doing = (act) => inOrder(act).then(complete);

function complete() {
  clearTimeout(completing);
  completing = setTimeout(() => state.whole || busy() || refresh(givingWay), SOON_MS);
}

async function poll() {
  if (document.hidden || busy()) return;
  const found = await hasNews();
  if (!found) return;
  if (found.kind === "gone") return gone();
  if ((found.kind === "news" || !state.whole) && !busy()) refresh();
  for (const field of unsaved()) if (isLeft(field) && !problemOf(field.parentElement)?.dataset.now) retry(field);
}

/** Nobody types in it: it has been left, or is as it was when it was sent last. */
const isLeft = (field) => field !== document.activeElement || field.dataset.tried === field.value.trim();

function retry(field) {
  // What the server refused with a reason is not sent again unless it is changed.
  const problem = problemOf(field.parentElement);
  if (!problem || problem.querySelector("[data-retry]")) save(field);
}

let asked = null;
let later = 0;
function foretell() {
  clearTimeout(later);
  later = setTimeout(async () => {
    asked?.abort();
    asked = new AbortController();
    const answer = await read(page.dataset.forecast + query(), asked.signal);
    // An answer about an earlier version comes too late: the next one is on its way.
    if (answer?.tag === state.tag) putParts(answer.parts);
  }, 400);
}

// Unfolding and acts ----------------------------------------------------------------------------
function unfold(row = "", act = "") {
  const words = closed();
  if (row) words.set("queue", row);
  if (row && act) words.set("act", act);
  sayInAddress(words);
  const from = currentRow();
  for (const form of grid.querySelectorAll("form.act")) form.reset();
  doing(async () => {
    await look(sendAct);
    const body = row ? document.getElementById(`q${row}`) : from;
    // Deleting is never the first: a second key pressed in haste must not do it.
    const stop = act === "delete" ? "a[data-close]" : "input:not([type=hidden]), select, button";
    const first = body?.querySelector(`.more :is(${stop}):not(noscript *)`);
    (row && first ? first : body?.querySelector("a.name"))?.focus();
    if (row && act === "rename") first?.select?.();
  });
}

/** What was typed in a form is done: it need not be kept. */
function done(form) {
  if (!form.matches(".act")) return form.reset();
  // Left first, and not emptied: either has all of the grid laid out once more than needed.
  if (form.contains(document.activeElement)) document.activeElement.blur();
  form.remove();
}

function submitAct(form, submitter) {
  doing(async () => {
    const data = new FormData(form, submitter);
    const { kind, answer } = await (form.matches(".act") ? sendAct : send)(form.action, data, `?${closed()}`);
    if (kind === "done") {
      tell("");
      done(form);
      sayInAddress(closed());
      show(answer);
      if (document.activeElement === document.body) document.querySelector("#draft-conflicts button, #reason")?.focus();
    } else if (kind === "gone") gone();
    else {
      form.querySelector(":scope > .problem")?.remove();
      form.insertAdjacentHTML("beforeend", kind === "refused" ? answer.html : unsaidOf(kind).replace(/<button.*<\/button>/s, ""));
    }
  });
}

/** Undo and redo are the server's, of one's own acts: they last, and never take back what somebody else did since. */
function step(form) {
  doing(async () => {
    const { kind, answer } = await sendAct(form.action, new FormData(form));
    tell(kind === "refused" ? answer.html : kind === "done" || kind === "gone" ? "" : unsaidOf(kind));
    if (kind === "done") {
      show({ ...answer, focus: "" });
      const at = document.getElementById(answer.focus);
      reveal(at);
      at?.scrollIntoView({ block: "nearest" });
      if (document.activeElement === document.body) at?.focus({ preventScroll: true });
    } else if (kind === "gone") gone();
    else if (kind === "refused") refresh(); // it can't be done any more: what the buttons do is another act
  });
}

/** At the toolbar, why there is no undo. */
function tell(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  document.getElementById("undo-problem").replaceChildren(holder.content.querySelector(".err")?.textContent ?? "");
}

/** Drops a queue onto another. */
function move(row, parent, was) {
  doing(async () => {
    const data = new FormData();
    for (const [name, value] of Object.entries({ row, parent, was })) data.set(name, value);
    const { kind, answer } = await sendAct(page.dataset.move, data);
    tell(kind === "refused" ? answer.html : kind === "done" || kind === "gone" ? "" : unsaidOf(kind));
    if (kind === "done") show(answer);
    else if (kind === "gone") gone();
  });
}

/** The page is being left: what it still asked for would come too late, of a draft that is gone. */
function rest() {
  clearInterval(polling);
  clearTimeout(completing);
  document.removeEventListener("visibilitychange", poll);
  clearTimeout(later);
  asked?.abort();
}

/** Only what one has read is published: what was still on its way is waited for, and looked at if it changed anything. */
function publish(event) {
  const form = event.target;
  const seen = form.elements.version.value;
  document.getElementById("look").hidden = true;
  if (document.getElementById("publish").getAttribute("aria-disabled") === "true") event.preventDefault();
  else if (busy() || !state.whole || unsaved().length || rulesTyped()) {
    event.preventDefault();
    inOrder(() => {}).then(() => state.whole || refresh()).then(() => {
      if (state.whole && state.version === seen && !unsaved().length && !rulesTyped()) form.requestSubmit(event.submitter);
      else document.getElementById("look").hidden = false;
    });
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("[data-suggest]")) {
    event.preventDefault();
    const field = document.getElementById(form.dataset.suggest);
    field.value = event.submitter.value;
    field.focus();
    save(field);
  } else if (form.matches(".act, .rules-form, #draft-conflicts form, #draft-notices form")) {
    event.preventDefault();
    submitAct(form, event.submitter);
  } else if (form.matches("#undo-form, #redo-form")) {
    event.preventDefault();
    step(form);
  } else if (form.matches("#draft-tools")) {
    event.preventDefault();
    unfold(currentRow().dataset.row, event.submitter.value);
  } else if (form.matches(".settings-form")) {
    event.preventDefault();
  } else if (form.matches("#publish-form")) {
    publish(event);
  }
  if (!event.defaultPrevented) rest();
});
document.addEventListener("click", (event) => {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (at.matches("[data-keep], [data-take]")) keepOrTake(at);
  else if (at.matches("[data-retry]")) {
    const field = at.closest(".problem").parentElement.querySelector("[data-setting]");
    if (field) save(field);
  } else if (at.matches("form.act button") && at.form.checkValidity()) {
    event.preventDefault(); // submitted, it comes to the same, after a browser has looked at all fields of the page
    submitAct(at.form, at);
  } else if (at.matches("a[data-close]")) {
    event.preventDefault();
    unfold();
  } else if (at.matches("#grid a.name")) {
    event.preventDefault();
    if (byMouse(event)) at.focus();
    else toggle(at.closest("tbody"));
  } else if (at.matches("#grid tr:first-child > :is(th, td)")) nameOf(at.closest("tbody"))?.focus();
});
grid.addEventListener("dblclick", ({ target: at }) => at.matches("a.name, tr:first-child > :is(th, td)") && toggle(at.closest("tbody")));

/** A click with a mouse selects a row, as in every table that is edited; Enter, a tap and a second click open it. */
const byMouse = ({ pointerType, detail }) => (pointerType === undefined ? detail > 0 : pointerType === "mouse");

function toggle(body) {
  if (!body) return; // the head of the columns
  if (body.rows[0].classList.contains("unfolded")) unfold();
  else unfold(body.dataset.row);
}

// Starting --------------------------------------------------------------------------------------
for (const body of rows()) enliven(body);
listen((row, act) => mayEdit && unfold(row, act), undo);
if (mayEdit) {
  listenForRanges(fill);
  listenForDrags(move);
  const isFree = (at) => !at.matches("input, textarea, select") || (at.matches("[data-setting]") && !isTyped(at));
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !isFree(event.target)) return;
    const key = event.key.toLowerCase();
    const way = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : "";
    if (!way) return;
    event.preventDefault();
    step(document.getElementById(`${way}-form`)); // submitting it has a browser look at all fields of the page
  });
  page.addEventListener("focusout", ({ target }) => target.matches("[data-setting]") && save(target));
  page.addEventListener("change", ({ target }) => target.matches("[data-setting]") && save(target));
  page.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("input[data-setting]")) return;
    event.preventDefault();
    save(event.target);
  });
}
window.addEventListener("beforeunload", (event) => (unsaved().length || rulesTyped()) && event.preventDefault());
document.addEventListener("visibilitychange", poll);
polling = setInterval(poll, EVERY_MS);
foretell();
document.querySelector("#grid .more input:not([type=hidden]), #grid .more select")?.focus();
