// Copies text. A button with data-copy="the text" or data-copy-from="#id of what holds it" copies that; an empty data-copy
// means the element before the button. Any other element with one of these gets a small button of its own behind it; an
// empty data-copy means the element's own text. data-copy-name names what is copied, if the text is long or secret.
// What was copied is spoken and shown for a moment. Without JavaScript there is no button, and the text can be selected.
const SHOWN_MS = 2000;
const LONGEST_SPOKEN = 80; // characters
const words = document.getElementById("copied");

function textOf(node) {
  const own = node.localName === "button" ? node.previousElementSibling : node;
  const source = node.dataset.copyFrom ? document.querySelector(node.dataset.copyFrom) : own;
  return (node.dataset.copyFrom ? "" : node.dataset.copy) || (source?.value ?? source?.textContent ?? "").trim();
}

function nameOf(node) {
  const text = textOf(node);
  return node.dataset.copyName || (text.length > LONGEST_SPOKEN || text.includes("\n") ? "" : text);
}

function fill(template, name) {
  return template.replace("{}", () => name).trim();
}

/** The way for pages without TLS, where browsers have no clipboard to offer. */
function copySelected(text) {
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "vh", readOnly: true });
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return done;
}

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function show(button, done, name) {
  words.textContent = "";
  // Two turns later, so that the same words are spoken again.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    words.textContent = done ? fill(words.dataset.done, name) : words.dataset.failed;
  }));
  button.dataset.copied = done ? "done" : "failed";
  setTimeout(() => delete button.dataset.copied, SHOWN_MS);
}

function equip() {
  for (const node of document.querySelectorAll(":is([data-copy], [data-copy-from]):not(button, [data-copy-ready])")) {
    node.dataset.copyReady = "";
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy" });
    button.ariaLabel = button.title = fill(words.dataset.label, nameOf(node));
    node.after(button);
  }
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("button:is([data-copy], [data-copy-from]), [data-copy-ready] + button.copy");
  if (!button) return;
  const node = button.matches("[data-copy], [data-copy-from]") ? button : button.previousElementSibling;
  show(button, await write(textOf(node)), nameOf(node));
});
document.addEventListener("htmx:afterSwap", equip);
document.addEventListener("htmx:oobAfterSwap", equip);
equip();
