// Ctrl K, and the button in the top bar, open the palette, which is loaded when it is first wanted. Without it, the button
// is a link to the page that finds the same.
async function find(event) {
  event.preventDefault();
  const { open } = await import("./palette.js");
  open();
}

for (const button of document.querySelectorAll("[data-find-open]")) {
  button.addEventListener("click", (event) => event.ctrlKey || event.metaKey || find(event));
}
document.addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  if (!document.querySelector("dialog[open]:not(#palette)")) find(event);
});
