// Times below a chart, in the viewer's zone: SVG text can't hold a <time>.
const lang = document.documentElement.lang || "en";
const formats = {
  time: new Intl.DateTimeFormat(lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  day: new Intl.DateTimeFormat(lang, { day: "numeric", month: "short" }),
  month: new Intl.DateTimeFormat(lang, { month: "short", year: "numeric" }),
};

function write() {
  for (const label of document.querySelectorAll("[data-axis]")) {
    const text = formats[label.dataset.axis].format(new Date(label.dataset.at));
    if (label.textContent !== text) label.textContent = text;
  }
}
write();
for (const swap of ["htmx:afterSwap", "htmx:oobAfterSwap"]) document.addEventListener(swap, write);  // before it is painted
