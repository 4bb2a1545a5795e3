// A <details> that the visitor has opened stays open when htmx replaces that part of the page.

const opened = new Set();

export const wasOpened = (details) => opened.has(details.id);

export function startDetails() {
  document.addEventListener("click", (event) => {
    const details = event.target.closest("summary")?.parentElement;
    if (details?.id) opened[details.open ? "delete" : "add"](details.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  });
}
