// Filters apply as soon as one is changed; what is typed, on Enter or when the field is left. The page that comes has the
// focus where it was, so that the next filter can be set from the keyboard.
const FOCUS = "filtered";
const place = (form, control) => JSON.stringify([location.pathname, form.id, control.name]);

function refocus() {
  const was = sessionStorage.getItem(FOCUS);
  if (!was) return;
  sessionStorage.removeItem(FOCUS);
  for (const form of document.querySelectorAll("form.filters")) {
    for (const control of form.elements) if (control.name && place(form, control) === was) return control.focus({ preventScroll: true });
  }
}

document.addEventListener("change", ({ target }) => {
  const form = target.form;
  if (!target.name || !form?.matches("form.filters[method=get]")) return;
  // Where the focus moves on, it is kept there: somebody tabbed from a text to the next filter.
  setTimeout(() => {
    const at = form.contains(document.activeElement) ? document.activeElement : target;
    if (at.name) sessionStorage.setItem(FOCUS, place(form, at));
    if (form.checkValidity()) form.requestSubmit();
  });
});
refocus();
