// Runs before the first paint, so that a chosen theme never flashes; the choice is kept in this browser.
(() => {
  const page = document.documentElement;
  const read = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") page.dataset.theme = theme;
    else delete page.dataset.theme;
  };
  apply(read());

  const mark = (buttons) => {
    const now = page.dataset.theme ?? "system";
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === now));
  };
  document.addEventListener("DOMContentLoaded", () => {
    const buttons = [...document.querySelectorAll("[data-theme-choice]")];
    mark(buttons);
    for (const button of buttons) {
      button.closest("[hidden]")?.removeAttribute("hidden");
      button.addEventListener("click", () => {
        apply(button.value);
        try {
          localStorage.setItem("theme", button.value);
        } catch {
          // Storage may be turned off: the choice then lasts as long as the page.
        }
        mark(buttons);
        document.dispatchEvent(new Event("themechange"));
      });
    }
  });
})();
