// Runs before the first paint, so that what was chosen never flashes: the theme, and that updates are paused. The choices
// are kept in this browser.
(() => {
  const page = document.documentElement;
  const read = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const apply = (theme) => {
    if (theme === "light" || theme === "dark") page.dataset.theme = theme;
    else delete page.dataset.theme;
  };
  apply(read("theme"));
  page.toggleAttribute("data-held", read("updates") === "held");

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
