// Dropping files on the form, and progress while they are sent. Without this the form works as any other.

const form = document.querySelector("[data-drop]");
if (form) {
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

  function send() {
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.responseType = "document";
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      progress.hidden = false;
      progress.value = (100 * loaded) / total;
      status.textContent = loaded < total ? `Sending ${input.files.length} files…` : "Reading the files…";
    });
    request.addEventListener("load", () => arrived(request));
    request.addEventListener("error", () => fail("The server did not answer. Nothing was stored."));
    request.send(new FormData(form));
  }

  function arrived(request) {
    if (request.status < 400) {
      location.assign(request.responseURL);
      return;
    }
    const notice = request.response?.querySelector(".notice-bad p, h1");
    fail(notice ? notice.textContent : `The server answered ${request.status}.`);
  }

  function fail(words) {
    progress.hidden = true;
    status.textContent = words;
    status.className = "notice notice-bad";
  }
}
