// Dropping files on a form, and sending them in parts where one request may not carry them. Without this the form works
// as any other, up to that size.
import { sendInParts } from "./parts.js";

// Boundaries and the other fields of a form, a file.
const FORM_BYTES = 64 * 1024;
const HEAD_BYTES = 1024;

for (const form of document.querySelectorAll("[data-drop]")) {
  const input = form.querySelector("input[type=file]");
  const status = form.querySelector("[data-drop-status]");
  const progress = form.querySelector("[data-drop-progress]");

  for (const name of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.toggleAttribute("data-over", name === "dragover");
    });
  }
  form.addEventListener("drop", (event) => {
    if (event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    send();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });

  async function send() {
    if (input.disabled) return;
    const files = [...input.files];
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    status.className = "";
    try {
      if (bytes + FORM_BYTES + files.length * HEAD_BYTES > Number(form.dataset.drop)) await sendAll(files, bytes);
      status.textContent = "Reading the files…";
      form.submit();
    } catch (error) {
      input.disabled = false;
      progress.hidden = true;
      status.textContent = error.message;
      status.className = "notice notice-bad";
    }
  }

  // The form names the files then instead of holding them.
  async function sendAll(files, bytes) {
    input.disabled = true;
    progress.hidden = false;
    for (const earlier of form.querySelectorAll("[name=parts]")) earlier.remove();
    let before = 0;
    for (const file of files) {
      const tell = (sent) => {
        progress.value = (100 * (before + sent)) / bytes;
        status.textContent = `Sending ${file.name}: ${Math.round(progress.value)} % of all…`;
      };
      const name = Object.assign(document.createElement("input"), { type: "hidden", name: "parts" });
      name.value = await sendInParts(file, { token: form.elements.csrfmiddlewaretoken.value, tell });
      form.append(name);
      before += file.size;
    }
  }
}
