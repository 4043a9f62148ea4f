// Dates on plotly's axes in the language of the page: the names and the order of their parts are the browser's.
const language = document.documentElement.lang;
const PARTS = { year: "%Y", month: "%b", day: "%-d" };

/** How the language writes a date with these parts, as plotly's pattern: `%b %-d`, or `%b%-d日`. */
function pattern(parts) {
  const shown = new Intl.DateTimeFormat(language, parts).formatToParts(new Date());
  return shown.map(({ type, value }) => PARTS[type] ?? value).join("");
}

let registered = false;

const names = (parts, times) => {
  const format = new Intl.DateTimeFormat(language, { ...parts, timeZone: "UTC" });
  return times.map((time) => format.format(time));
};

/** Teaches plotly the language, and returns its name there. It knows English, on which every other language rests. */
export function locale() {
  if (language === "en" || registered) return language;
  registered = true;
  const months = [...Array(12).keys()].map((month) => Date.UTC(2023, month, 1));
  const days = [...Array(7).keys()].map((day) => Date.UTC(2023, 0, 1 + day)); // from a Sunday
  const [year, month, day] = [{ year: "numeric" }, { month: "short" }, { day: "numeric" }];
  window.Plotly.register({
    moduleType: "locale",
    name: language,
    dictionary: {},
    format: {
      days: names({ weekday: "long" }, days),
      shortDays: names({ weekday: "short" }, days),
      months: names({ month: "long" }, months),
      shortMonths: names(month, months),
      date: "%Y-%m-%d",
      year: pattern(year),
      month: pattern({ ...year, ...month }),
      dayMonth: pattern({ ...month, ...day }),
      dayMonthYear: pattern({ ...year, ...month, ...day }),
    },
  });
  return language;
}
