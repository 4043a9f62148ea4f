// Undo and redo of one's own acts in this page: each is a form that is sent, and the one that takes it back. What
// somebody else changed since is not undone: the server refuses it, and says so. Deleting, merging and choosing have no way
// back: nothing before them is undone either, or Ctrl Z would quietly take back something else than the last act.
import { inOrder, send } from "./draft-server.js";

const done = [];
const undone = [];
let floored = false; // whether an act without a way back lies below what can be undone
const buttons = { undo: document.querySelector("[data-undo]"), redo: document.querySelector("[data-redo]") };

function mark() {
  buttons.undo.setAttribute("aria-disabled", String(!done.length));
  buttons.undo.title = floored && !done.length ? buttons.undo.dataset.floor : "";
  buttons.redo.setAttribute("aria-disabled", String(!undone.length));
}

const tell = (sentence) => document.getElementById("undo-problem").replaceChildren(sentence);

function form(values) {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.set(name, value);
  return data;
}

/** What takes an act back, or null where nothing does. `path` ends in the act's name. */
function reverse(path, values, answer) {
  const act = path.split("/").at(-2);
  const { row, name, parent, was } = values;
  if (act === "rename") return [path, { row, name: was, was: name }];
  if (act === "move") return [path, { row, parent: was, was: parent }];
  if (act === "add") return [path.replace(/add\/$/, "delete/"), { row: answer.focus.slice(1) }];
  if (act !== "edit") return null;
  const [key] = Object.keys(values).filter((each) => each.startsWith("was:"));
  const setting = key.slice("was:".length);
  return [path, { row, [setting]: values[key], [key]: values[setting] }];
}

/** A queue that is added again has another key: what is still to be redone is about that one. */
function follow(old, fresh) {
  for (const [path, values] of undone.flatMap(({ act, back }) => [act, back]))
    for (const name of path.endsWith("/move/") ? ["row", "parent", "was"] : ["row"])
      if (values[name] === old) values[name] = fresh;
}

/** Keeps an act that was done. */
export function keep(path, data, answer) {
  const values = Object.fromEntries([...data].filter(([name]) => !["shown", "version", "csrfmiddlewaretoken"].includes(name)));
  const address = new URL(path, location.href).pathname;
  const back = reverse(address, values, answer);
  if (back) done.push({ act: [address, values], back });
  else {
    done.length = 0;
    floored = true;
  }
  undone.length = 0;
  tell("");
  mark();
}

const sentenceIn = (html) => new DOMParser().parseFromString(html, "text/html").querySelector(".err")?.textContent ?? "";

/** Takes the last act back (`way` undo) or does it again (redo); `show` puts the answer in, `fail` says why there is none. */
export function step(way, show, fail) {
  return inOrder(async () => {
    const entry = (way === "undo" ? done : undone).pop();
    mark();
    tell(entry || way === "redo" ? "" : buttons.undo.title);
    if (!entry) return;
    const [path, values] = way === "undo" ? entry.back : entry.act;
    const { kind, answer } = await send(path, form(values));
    if (kind === "done") {
      if (way === "redo") {
        const { row } = entry.back[1];
        entry.back = reverse(path, values, answer);
        follow(row, entry.back[1].row);
      }
      (way === "undo" ? undone : done).push(entry);
      show(answer);
    } else if (kind === "refused") tell(sentenceIn(answer.html));
    else {
      (way === "undo" ? done : undone).push(entry);
      tell(sentenceIn(fail(kind)));
    }
    mark();
  });
}

/** Listens to Ctrl Z, Ctrl Y and the buttons. A field that is being typed in keeps its own undo. */
export function listen(isFree, show, fail) {
  for (const [way, button] of Object.entries(buttons)) {
    button.hidden = false;
    button.addEventListener("click", () => step(way, show, fail));
  }
  mark();
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !isFree(event.target)) return;
    const key = event.key.toLowerCase();
    const way = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : "";
    if (!way) return;
    event.preventDefault();
    step(way, show, fail);
  });
}
