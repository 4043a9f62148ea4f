// The reason to publish that is being typed survives a reload, and a session that ends before it is sent.
const form = document.getElementById("publish-form");
const reason = form?.elements.reason;
const key = () => `reason ${form.getAttribute("action")}`;

if (reason) {
  reason.value ||= sessionStorage.getItem(key()) ?? "";
  reason.addEventListener("input", () => sessionStorage.setItem(key(), reason.value));
}
