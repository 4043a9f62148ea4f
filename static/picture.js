// Saves a map as PNG: the file that "Save as SVG" gives, drawn here, with the fonts of the reader's own machine.
const controls = document.querySelector("[data-picture]");
const button = controls.querySelector("button");
const told = controls.querySelector("[role=status]");
const LONGEST_SIDE = 16000; // of a canvas, in pixels: browsers take no more

async function drawn(address, times) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(times, LONGEST_SIDE / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((give) => canvas.toBlob(give, "image/png"));
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it on its own time
}

button.addEventListener("click", async () => {
  told.textContent = "";
  button.disabled = true;
  try {
    const blob = await drawn(controls.dataset.picture, Number(controls.querySelector("select").value));
    save(blob, controls.dataset.name);
  } catch {
    told.textContent = told.dataset.failed;
  }
  button.disabled = false;
});
