// A <details> that the visitor has opened stays open when htmx replaces that part of the page.

const opened = new Set();

export const wasOpened = (details) => opened.has(details.id);

/** What stands beside the page where there is room, and above it behind its button where there is not. */
function closeOnPhones() {
  if (!window.matchMedia("(max-width: 59.99rem)").matches) return;
  for (const details of document.querySelectorAll("details[data-closed-on-phone]")) details.open = false;
}

/** On paper nothing can be opened. */
const openedForPaper = [];

function openForPaper() {
  openedForPaper.push(...document.querySelectorAll("details:not([open]):is([data-opens-on-paper], .fold)"));
  for (const details of openedForPaper) details.open = true;
}

function closeAfterPaper() {
  for (const details of openedForPaper.splice(0)) details.open = false;
}

export function startDetails() {
  // Before charts are drawn for paper, those that are folded too.
  window.addEventListener("beforeprint", openForPaper, { capture: true });
  window.addEventListener("afterprint", closeAfterPaper);
  closeOnPhones();
  document.addEventListener("click", (event) => {
    const details = event.target.closest("summary")?.parentElement;
    if (details?.id) opened[details.open ? "delete" : "add"](details.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    closeOnPhones();
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  });
}
