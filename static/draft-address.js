// What the page's address says: which row is unfolded for what, and what is folded. It is written once that is drawn:
// whenever an address changes, a browser looks at all fields of the page, for what it is to bring back with it.
const LATER_MS = 100;
let said = location.search;
let path = location.pathname;
let writing = 0;

/** As a query, from its question mark on; empty: it says nothing. */
export const query = () => said;

/** To be changed, and said. */
export const words = () => new URLSearchParams(said);

/** The same with no row unfolded. */
export function closed() {
  const left = words();
  for (const name of ["queue", "act", "forecast"]) left.delete(name);
  return left;
}

function write() {
  clearTimeout(writing);
  writing = 0;
  history.replaceState(null, "", path + said);
}

/** Says this from now on. */
export function say(next) {
  said = next.size ? `?${next}` : "";
  writing ||= setTimeout(write, LATER_MS);
}

/** The page has another address from now on. */
export function retell(at, next) {
  path = at;
  say(next);
}

window.addEventListener("beforeunload", () => writing && write());
