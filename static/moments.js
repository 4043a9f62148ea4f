// Times that people pick. The page and the server speak UTC; what a person sees and types is in the zone of the browser.
const two = (number) => String(number).padStart(2, "0");
const MOMENTS = "input[data-moment]";

function local(at) {
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

function zoneAt(at) {
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts(at);
  return parts.find((part) => part.type === "timeZoneName").value.replace("GMT", "UTC");
}

const picked = (input) => (input.value ? new Date(input.value) : new Date());
const tellZone = (input) => (input.parentElement.querySelector("[data-zone-of]").textContent = zoneAt(picked(input)));

/** Shows each control below `root` in the viewer's zone, once. */
function localize(root = document) {
  for (const input of root.querySelectorAll(`${MOMENTS}:not([data-local])`)) {
    input.dataset.local = "";
    if (input.defaultValue) input.value = local(new Date(`${input.defaultValue}Z`));
    tellZone(input);
  }
}

localize();
document.addEventListener("htmx:afterSwap", () => localize());
document.addEventListener("input", ({ target }) => target.matches?.(MOMENTS) && tellZone(target));
document.addEventListener("formdata", ({ target, formData }) => {
  for (const input of target.querySelectorAll(MOMENTS)) {
    if (input.value && !input.disabled) formData.set(input.name, `${new Date(input.value).toISOString().slice(0, 16)}Z`);
  }
});
