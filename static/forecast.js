// What a change would preempt comes after the page: it may take a moment.
const place = document.querySelector("[data-forecast]");

async function load() {
  const response = await fetch(place.dataset.forecast, { headers: { Accept: "application/json" } });
  if (!response.ok || response.redirected) return;
  const { parts } = await response.json();
  place.outerHTML = parts.prospect;
  document.getElementById("orphans-allowed").outerHTML = parts["orphans-allowed"];
}
if (place) load().catch(() => {});
