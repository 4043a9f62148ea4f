// What a reader has opened or scrolled inside #live stays so when news is swapped in. Needs an id on each.
let kept = new Map();

const inside = (selector) => document.querySelectorAll(`#live ${selector}`);

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "live") return;
  kept = new Map();
  for (const region of inside(".scroll[id]")) kept.set(region.id, { scrollLeft: region.scrollLeft });
  for (const fold of inside("details[id]")) kept.set(fold.id, { open: fold.open });
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "live") return;
  for (const [id, state] of kept) Object.assign(document.getElementById(id) ?? {}, state);
});
