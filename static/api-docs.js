// The API's routes, drawn from its OpenAPI document by Swagger UI; tried out as the person who reads it.
const place = document.getElementById("api-docs");
const page = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const token = document.querySelector("[name=csrfmiddlewaretoken]").value;

/** Swagger UI knows a dark scheme by this class. */
function paint() {
  page.classList.toggle("dark-mode", page.dataset.theme ? page.dataset.theme === "dark" : dark.matches);
}

paint();
dark.addEventListener("change", paint);
document.addEventListener("themechange", paint);
window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  docExpansion: "list",
  tagsSorter: "alpha",
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
  onComplete: () => place.querySelector("main")?.setAttribute("role", "group"), // the page has a <main> already
  requestInterceptor: (request) => {
    if (new URL(request.url, location.href).origin === location.origin) request.headers["X-CSRFToken"] = token;
    return request;
  },
});
