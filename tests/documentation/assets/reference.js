// The operations of the OpenAPI document, drawn by Swagger UI on the one page that has a place for them.
const place = document.getElementById("operations");
const files = new URL("./", import.meta.url);

/** Swagger UI knows a dark scheme by this class. */
function paint() {
  document.documentElement.classList.toggle("dark-mode", document.body.dataset.mdColorScheme === "slate");
}

/** Load a file of Swagger UI. */
function load(name, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), properties, { onload: resolve, onerror: reject });
    document.head.append(element);
  });
}

if (place) {
  paint();
  new MutationObserver(paint).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  await load("link", { rel: "stylesheet", href: new URL("swagger-ui.css", files) });
  await load("script", { src: new URL("swagger-ui-bundle.js", files) });
  window.SwaggerUIBundle({
    url: new URL("openapi.json", files).href,
    domNode: place,
    docExpansion: "none",
    tagsSorter: "alpha",
    defaultModelsExpandDepth: 0,
    filter: true,
    validatorUrl: null,
    supportedSubmitMethods: [], // a reference, from which nothing is sent
  });
}
