// A form that takes a while says so, and is not sent twice.
for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", (event) => {
    if (form.ariaBusy === "true") return event.preventDefault();
    form.ariaBusy = "true";
    const told = form.querySelector("[data-busy-text]");
    told.textContent = told.dataset.busyText;
  });
}
// Back from the next page, the form is at hand again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-busy]")) form.ariaBusy = null;
});
