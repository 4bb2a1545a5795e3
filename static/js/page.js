// What every page has: theme toggle, times in the visitor's zone, selection of runs, menus, hints of numbers,
// confirmation of dangerous forms.
import { startDetails } from "./details.js";
import { startSelection } from "./select.js";
import { startSwaps } from "./swaps.js";
import { startThemeToggle } from "./theme.js";
import { localizeTimes } from "./times.js";
import { show as showTray, startTray } from "./tray.js";

function confirmForm(event) {
  const form = event.target;
  const ticked = [...form.elements].some((field) => field.checked);
  const question =
    event.submitter?.dataset.confirm ?? form.dataset.confirm ?? (ticked ? form.dataset.confirmTicked : "");
  if (question && !window.confirm(question)) event.preventDefault();
}

// A menu made of <details> closes when something else is clicked or has the focus, and with Escape.
const openMenus = () => document.querySelectorAll("details.menu[open]");

function startMenus() {
  for (const leaves of ["click", "focusin"]) {
    document.addEventListener(leaves, (event) => {
      for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of openMenus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}

// A link with data-copy puts its address where it can be pasted, and says so; without scripts it opens that address.
async function copyAddress(event) {
  const link = event.target.closest("a[data-copy]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const said = document.getElementById(link.dataset.copy);
  try {
    await navigator.clipboard.writeText(link.href);
    said.textContent = "The address is copied.";
  } catch {
    // Not over plain http, nor where the browser does not allow it: the address to be copied by hand.
    said.textContent = link.href;
    getSelection().selectAllChildren(said);
  }
}

// Escape puts away the hint of a number (css/numbers.css); it comes back when the pointer or the focus comes anew. That
// the pointer has left is what counts: of a page that has just scrolled below it, its coming may be told after the key.
function startHints() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    // The one that has the focus, too: a touch makes it hovered only in the next frame.
    for (const number of document.querySelectorAll(".number:is(:hover, :focus)")) number.setAttribute("data-hushed", "");
    document.activeElement?.closest(".number")?.blur();
  });
  for (const anew of ["pointerout", "focusin"]) {
    document.addEventListener(anew, (event) => event.target.closest?.(".number")?.removeAttribute("data-hushed"));
  }
}

// Tables wider than their room say so, as a shadow at their edge is easily missed (css/components.css).
const tables = new ResizeObserver((entries) => {
  for (const { target: { parentElement: room } } of entries) room.toggleAttribute("data-overflows", room.scrollWidth > room.clientWidth + 1);
});
const watchTables = () => { for (const table of document.querySelectorAll(".table-scroll > table")) tables.observe(table); };

// Of an answer that would fill a phone's screen above its chart the rest is shown when asked for (css/compare.css).
const answers = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollHeight > target.clientHeight + 1 && !target.nextElementSibling?.matches("[data-rest]")) offerRest(target);
  }
});
const watchAnswers = () => { for (const answer of document.querySelectorAll("[data-answer]")) answers.observe(answer); };

function offerRest(answer) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button-quiet button-small", textContent: "The whole answer" });
  button.dataset.rest = "";
  button.addEventListener("click", () => {
    answer.dataset.whole = "";
    answer.tabIndex = -1;
    answer.focus();
    button.remove();
  });
  answer.after(button);
}

startThemeToggle();
localizeTimes(document);
startSelection(document);
startDetails();
startSwaps();
startTray();
startMenus();
startHints();
watchTables();
watchAnswers();
document.addEventListener("submit", confirmForm);
document.addEventListener("click", copyAddress);
document.addEventListener("htmx:afterSettle", () => {
  localizeTimes(document);
  startSelection(document);
  showTray();
  watchTables();
  watchAnswers();
});
