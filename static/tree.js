// Folding: at once in the page, kept in the address, and confirmed by the next refresh, which brings rows that were left out.
const folds = () => [...document.querySelectorAll("tr[data-path] a.fold")];
const pathOf = (fold) => fold.closest("tr").dataset.path;
const isFolded = (fold) => fold.getAttribute("aria-expanded") === "false";

function draw() {
  const folded = folds().filter(isFolded).map((fold) => `${pathOf(fold)}.`);
  for (const row of document.querySelectorAll("tr[data-path]")) {
    row.hidden = folded.some((above) => row.dataset.path.startsWith(above));
  }
}

function address(path, wasFolded) {
  const url = new URL(location);
  const [said, meant] = wasFolded ? ["folded", "open"] : ["open", "folded"];
  const kept = url.searchParams.getAll(said);
  if (!kept.includes(path)) url.searchParams.append(meant, path);
  url.searchParams.delete(said);
  for (const each of kept) if (each !== path) url.searchParams.append(said, each);
  return url;
}

document.addEventListener("click", (event) => {
  const fold = event.target.closest("a.fold");
  if (!fold || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  history.replaceState(history.state, "", address(pathOf(fold), isFolded(fold)));
  fold.setAttribute("aria-expanded", String(isFolded(fold)));
  draw();
  htmx.trigger("#live", "poll");
});
