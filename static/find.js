// Ctrl K, and the button in the top bar, open the palette with what was typed last. What finds is loaded when it is first
// wanted; the field is there at once, so that no letter typed meanwhile is lost. Without scripts, the button is a link to
// the page that finds the same.
const palette = document.getElementById("palette");

async function find(event) {
  event.preventDefault();
  if (palette.open) return;
  for (const menu of document.querySelectorAll("[popover]:popover-open")) menu.hidePopover();
  palette.showModal();
  palette.querySelector("input").select();
  const { ask } = await import("./palette.js");
  ask();
}

for (const button of document.querySelectorAll("[data-find-open]")) {
  button.addEventListener("click", (event) => event.ctrlKey || event.metaKey || find(event));
}
document.addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  if (!document.querySelector("dialog[open]:not(#palette)")) find(event);
});
