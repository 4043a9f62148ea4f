// The grid's rows, each a tbody. They stand in stretches of a few, and a browser lays out the stretches near what is in
// sight alone: of a thousand boxes each for itself it would have to see to all, however little is shown.
export const grid = document.getElementById("grid");

const MANY = 16;
const LINE_PX = 37;
const stretches = () => [...grid.children].slice(1); // after the heads of the columns

/** All of them in their order. Asked at every act: a selector would look at each of their fields, too. */
export const rows = () => stretches().flatMap((stretch) => [...stretch.children]);
export const lineOf = (body) => body.firstElementChild;

/** Puts a row in front of all, or behind one. */
export function putAfter(before, body) {
  if (before) before.after(body);
  else stretches()[0].prepend(body);
}

/** Puts a new row behind all. */
export const putLast = (body) => grid.lastElementChild.append(body);

function part(bodies, put) {
  for (let at = 0; at < bodies.length; at += MANY) {
    const stretch = document.createElement("div");
    stretch.className = "stretch";
    put(stretch);
    stretch.append(...bodies.slice(at, at + MANY));
  }
}

/** Parts the stretches that have grown too long, and says how high each is about to be. */
export function measure() {
  for (const stretch of stretches()) {
    if (!stretch.children.length) stretch.remove();
    else if (stretch.children.length > 2 * MANY) {
      part([...stretch.children], (shorter) => stretch.before(shorter));
      stretch.remove();
    }
  }
  for (const stretch of stretches()) {
    const shown = [...stretch.children].filter((body) => !body.hidden).length;
    const size = `${shown * LINE_PX}px`;
    if (stretch.hidden !== !shown) stretch.hidden = !shown;
    if (stretch.style.containIntrinsicBlockSize !== size) stretch.style.containIntrinsicBlockSize = size;
  }
}

part([...grid.tBodies], (stretch) => grid.append(stretch)); // the rows that the page came with
measure();
