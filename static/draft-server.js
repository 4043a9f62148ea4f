// What the editor asks of the server. Everything is sent one after the other, in the order in which it was done.
import { query } from "./draft-address.js";
import { rows } from "./draft-rows.js";

const page = document.getElementById("draft");
export const token = () => document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
/** `whole`: all that is shown is of `version`, not the rows alone. */
export const state = { version: page.dataset.version, tag: page.dataset.tag, inherited: page.dataset.inherited, whole: true };

let last = Promise.resolve();
let waiting = 0;
let yielding = null;

/** Whether anything is on its way. */
export const busy = () => waiting > 0;

/** Does `act` after all that was begun before it, but for what gives way. */
export function inOrder(act) {
  yielding?.abort();
  waiting += 1;
  const done = last.then(act).finally(() => {
    waiting -= 1;
  });
  last = done.catch(() => {});
  return done;
}

/** What is asked with this signal is given up as soon as there is anything else to do. */
export function givingWay() {
  yielding = new AbortController();
  return yielding.signal;
}

let told = ""; // kept, as it is told again with the next act
/** `pk.digest` of every row that is shown, in order: the server answers with those that differ. */
const shown = () => (told ||= rows().map((row) => `${row.dataset.row}.${row.dataset.digest}`).join(" "));

/** Rows are others now, or stand elsewhere. */
export function reshown() {
  told = "";
}

export function offline(is) {
  document.body.toggleAttribute("data-offline", is);
}

/** Signing in again, in another tab, changes the token that forms carry: takes the new one, if one is signed in. */
async function renewed() {
  const response = await fetch(location.href, { cache: "no-store" });
  const fresh = response.redirected ? null : new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[name=csrfmiddlewaretoken]");
  if (fresh) for (const one of document.querySelectorAll("[name=csrfmiddlewaretoken]")) one.value = fresh.value;
  return Boolean(fresh);
}

const post = (url, body, signal) => fetch(url, { method: "POST", headers: { Accept: "application/json", "X-CSRFToken": token() }, body, signal });

/** Sends a form. `{kind: "done" | "refused" | "signin" | "gone" | "offline" | "left", answer}`; never throws. */
export async function send(path, data = new FormData(), at = query(), signal = undefined) {
  data.set("shown", shown());
  data.set("version", state.version);
  data.set("inherited", state.inherited);
  data.delete("csrfmiddlewaretoken"); // the header says it
  const url = `${path.split("?")[0]}${at}`;
  try {
    let response = await post(url, data, signal);
    if (response.status === 403 && (await renewed())) response = await post(url, data, signal);
    offline(response.status >= 500);
    if (response.status >= 500) return { kind: "offline" };
    if (response.redirected || response.status === 403) return { kind: "signin" };
    if (response.status === 404) return { kind: "gone" };
    return { kind: response.ok ? "done" : "refused", answer: await response.json() };
  } catch {
    if (signal?.aborted) return { kind: "left" };
    offline(true);
    return { kind: "offline" };
  }
}

/** Sends an act in the tree: what it came to there is answered first, and the rest is asked for later. */
export function sendAct(path, data, at) {
  data.set("only", "rows");
  return send(path, data, at);
}

/** Whether the draft is another than the one shown; null where nobody answered. */
export async function hasNews() {
  try {
    const response = await fetch(page.dataset.news, { headers: { "If-None-Match": state.tag }, cache: "no-store" });
    offline(response.status >= 500);
    if (response.status === 404) return { kind: "gone" };
    return response.status === 304 || (!response.redirected && response.ok) ? { kind: response.status === 304 ? "same" : "news" } : null;
  } catch {
    offline(true);
    return null;
  }
}

/** What is still to be read from a URL as JSON, or null. */
export async function read(url, signal) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, cache: "no-store", signal });
    return response.ok && !response.redirected ? await response.json() : null;
  } catch {
    return null;
  }
}
