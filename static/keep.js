// News leaves alone where a reader is: what is unfolded, how far a wide table is scrolled, and what has the focus.
// Each is found again by its id, its name or where it leads.
const NAMES = ["id", "aria-label", "aria-labelledby", "href"];
let kept = [];
let focused = null;

function again(node) {
  const name = NAMES.find((each) => node?.getAttribute(each));
  return name ? `${node.localName}[${name}="${CSS.escape(node.getAttribute(name))}"]` : null;
}

function stateOf(node) {
  return node.localName === "details" ? { open: node.open } : { scrollLeft: node.scrollLeft, scrollTop: node.scrollTop };
}

document.addEventListener("htmx:beforeSwap", () => {
  kept = [...document.querySelectorAll("main :is(.scroll, details)")].map((node) => [again(node), stateOf(node)]);
  focused = again(document.activeElement);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const [place, state] of kept) if (place) Object.assign(document.querySelector(place) ?? {}, state);
  if (focused && document.activeElement === document.body) document.querySelector(focused)?.focus({ preventScroll: true });
});
// What opened a popover gets the focus back, also where news has put another button in its place meanwhile.
document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    const at = document.activeElement;
    if (newState !== "closed" || (at !== document.body && !target.contains(at))) return;
    document.querySelector(`[popovertarget="${CSS.escape(target.id)}"]`)?.focus({ preventScroll: true });
  },
  { capture: true },
);
