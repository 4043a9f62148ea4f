// Ctrl K finds pages, clusters, queues, nodes, pods, applications and decisions by a part of their name. Pages are those
// that this page links to; everything else is asked for, and comes as the same list that /find/ shows without scripts.
const palette = document.getElementById("palette");
const text = palette.querySelector("input");
const found = document.getElementById("palette-found");
const status = palette.querySelector("[role=status]");
const AFTER_MS = 120;
let asked = null;
let due = 0;

const hits = () => [...found.querySelectorAll("a")];
const current = () => found.querySelector("[aria-selected=true]");

function choose(hit) {
  current()?.setAttribute("aria-selected", "false");
  hit?.setAttribute("aria-selected", "true");
  hit?.scrollIntoView({ block: "nearest" });
  if (hit) text.setAttribute("aria-activedescendant", hit.id);
  else text.removeAttribute("aria-activedescendant");
}

function pagesNamed(part) {
  const links = [...document.querySelectorAll(".top nav a, .menu a")];
  const named = links.filter((link) => link.textContent.trim().toLowerCase().includes(part.toLowerCase()));
  if (!named.length) return [];
  const section = document.createElement("section");
  const heading = Object.assign(document.createElement("h2"), { textContent: found.dataset.pages });
  const list = document.createElement("ul");
  for (const link of new Map(named.map((one) => [one.href, one])).values()) {
    const row = document.createElement("li");
    row.append(Object.assign(document.createElement("a"), { href: link.href, textContent: link.textContent.trim() }));
    list.append(row);
  }
  section.append(heading, list);
  return [section];
}

/** Sections are groups of options, so that a list box reads them; links stay links, to open in another tab. */
function show(sections) {
  found.replaceChildren(...sections);
  for (const section of found.querySelectorAll("section")) {
    section.role = "group";
    section.ariaLabel = section.querySelector("h2").textContent;
    section.querySelector("h2").ariaHidden = "true";
    for (const node of section.querySelectorAll("ul, li")) node.role = "presentation";
  }
  hits().forEach((hit, place) => Object.assign(hit, { id: `hit-${place}`, role: "option", tabIndex: -1 }));
  choose(hits()[0]);
  status.textContent = text.value ? status.dataset.count.replace("%(n)s", hits().length) : "";
}

/** Shows what has a name with the text of the field in it. */
export async function ask() {
  asked?.abort();
  const part = text.value.trim();
  show(pagesNamed(part));
  if (!part) return;
  asked = new AbortController();
  try {
    const url = `${palette.dataset.find}?${new URLSearchParams({ q: part })}`;
    const answer = await fetch(url, { headers: { "HX-Request": "true" }, signal: asked.signal });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const pages = pagesNamed(part);
    show([...pages, ...(pages.length ? page.querySelectorAll("section") : page.body.children)]);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

text.addEventListener("input", () => {
  clearTimeout(due);
  due = setTimeout(ask, AFTER_MS);
});
text.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    const all = hits();
    choose(all.at((all.indexOf(current()) + step + all.length) % all.length));
    event.preventDefault();
  } else if (event.key === "Enter" && current()) {
    current().click();
    event.preventDefault();
  }
});
palette.addEventListener("click", (event) => {
  if (event.target === palette) palette.close();
});
found.addEventListener("click", (event) => event.target.closest("a") && !event.ctrlKey && !event.metaKey && palette.close());
