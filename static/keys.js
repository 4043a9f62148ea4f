// Single keys: / to the page's search, g and a letter to a page, ? lists them all. Never while somebody types, and only
// as long as they are not turned off: who speaks to a computer may set them off without meaning to.
import { read, write } from "./store.js";

const list = document.getElementById("keys");
const wanted = list.querySelector("[type=checkbox]");
const WITHIN_MS = 1500;
const MEANT = ["g", "?", "/"];
let went = -Infinity;

const typing = (at) => at.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const pages = () => [...document.querySelectorAll("a[data-go]")];

function describe(link) {
  const [line, keys, page] = ["div", "dt", "dd"].map((name) => document.createElement(name));
  for (const key of ["g", link.dataset.go]) keys.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
  page.textContent = link.textContent;
  line.append(keys, page);
  return line;
}

function show() {
  // Closed first, so that the menu's own button is where the dialog gives the focus back to.
  document.getElementById("menu").hidePopover();
  list.showModal();
}

function act(key) {
  if (key === "?") return show();
  const search = key === "/" && document.querySelector("main input[type=search], main form.filters :is(input:not([type=hidden]), select)");
  if (!search) return false;
  search.focus();
  search.select?.();
}

/** What follows a `g`, wherever the focus is: the page, or nothing. */
function go(event) {
  went = -Infinity;
  event.stopPropagation();
  event.preventDefault();
  pages().find((link) => link.dataset.go === event.key)?.click();
}

wanted.checked = read("keys") !== "off";
wanted.addEventListener("change", () => write("keys", wanted.checked ? "on" : "off"));
list.querySelector("[data-pages]").append(...pages().map(describe));
document.querySelector("[data-show-keys]").addEventListener("click", show);
document.addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const follows = event.timeStamp - went < WITHIN_MS;
    if (!follows && !MEANT.includes(event.key)) return; // what is asked below takes long where a page is long
    if (!wanted.checked || typing(event.target) || document.querySelector("dialog[open], .ask:popover-open")) return;
    if (follows) return event.key === "Shift" || go(event);
    if (event.key === "g") went = event.timeStamp;
    else if (act(event.key) !== false) event.preventDefault();
  },
  { capture: true },
);
