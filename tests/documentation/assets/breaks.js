// Long names in tables break behind a slash, a period or an underscore, not in the middle of a word.
for (const code of document.querySelectorAll("td code")) {
  if (code.children.length) continue;
  const parts = code.textContent.split(/(?<=[/._])(?=\w)/);
  code.replaceChildren(...parts.flatMap((part) => [part, document.createElement("wbr")]).slice(0, -1));
}
