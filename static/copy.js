// A button beside a secret copies it, and says so. Where the browser has no clipboard for us, the text is selected.
for (const button of document.querySelectorAll("[data-copy]")) {
  const holder = button.closest("[data-secret]");
  button.addEventListener("click", async () => {
    const shown = holder.querySelector("code, pre"), told = holder.querySelector("[data-copied]");
    getSelection().selectAllChildren(shown);
    try {
      await navigator.clipboard.writeText(shown.textContent);
      told.textContent = told.dataset.copied;
    } catch {
      told.textContent = document.execCommand("copy") ? told.dataset.copied : "";
    }
  });
}
