// Folding: at once in the page, kept in the address, and confirmed by the next refresh.
const rows = () => [...document.querySelectorAll("tr[data-path]")];

function draw(folded) {
  for (const row of rows()) {
    const { path } = row.dataset;
    row.hidden = [...folded].some((above) => path.startsWith(`${above}.`));
    row.querySelector(".fold")?.setAttribute("aria-expanded", String(!folded.has(path)));
  }
}

document.addEventListener("click", (event) => {
  const fold = event.target.closest("a.fold");
  if (!fold || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const { path } = fold.closest("tr").dataset;
  const url = new URL(location);
  const folded = new Set(url.searchParams.getAll("folded"));
  if (!folded.delete(path)) folded.add(path);
  url.searchParams.delete("folded");
  for (const each of folded) url.searchParams.append("folded", each);
  history.replaceState(history.state, "", url);
  draw(folded);
  htmx.trigger("#live", "poll");
});
