// What the editor asks of the server. Everything is sent one after the other, in the order in which it was done.
const page = document.getElementById("draft");
export const token = () => document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
export const state = { version: page.dataset.version, tag: page.dataset.tag, inherited: page.dataset.inherited };

let last = Promise.resolve();
let waiting = 0;

/** Whether anything is on its way. */
export const busy = () => waiting > 0;

/** Does `act` after all that was begun before it. */
export function inOrder(act) {
  waiting += 1;
  const done = last.then(act).finally(() => {
    waiting -= 1;
  });
  last = done.catch(() => {});
  return done;
}

/** `pk.digest` of every row that is shown, in order: the server answers with those that differ. */
const shown = () => [...document.querySelectorAll("#grid > tbody")].map((row) => `${row.dataset.row}.${row.dataset.digest}`).join(" ");

/** The page's address with no row unfolded. */
export function closed() {
  const words = new URLSearchParams(location.search);
  words.delete("queue");
  words.delete("act");
  words.delete("forecast");
  return words.size ? `?${words}` : location.pathname;
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

const post = (url, body) => fetch(url, { method: "POST", headers: { Accept: "application/json", "X-CSRFToken": token() }, body });

/** Sends a form. `{kind: "done" | "refused" | "signin" | "gone" | "offline", answer}`; never throws. */
export async function send(path, data = new FormData(), query = location.search) {
  data.set("shown", shown());
  data.set("version", state.version);
  data.set("inherited", state.inherited);
  data.delete("csrfmiddlewaretoken"); // the header says it
  const url = `${path.split("?")[0]}${query.startsWith("?") ? query : ""}`;
  try {
    let response = await post(url, data);
    if (response.status === 403 && (await renewed())) response = await post(url, data);
    offline(response.status >= 500);
    if (response.status >= 500) return { kind: "offline" };
    if (response.redirected || response.status === 403) return { kind: "signin" };
    if (response.status === 404) return { kind: "gone" };
    return { kind: response.ok ? "done" : "refused", answer: await response.json() };
  } catch {
    offline(true);
    return { kind: "offline" };
  }
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
