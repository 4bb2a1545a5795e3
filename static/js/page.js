// What every page has: theme toggle, times in the visitor's zone, selection of runs, confirmation of dangerous forms.
import { startDetails } from "./details.js";
import { startHints } from "./hints.js";
import { startMenus } from "./menu.js";
import { startSelection } from "./select.js";
import { startThemeToggle } from "./theme.js";
import { localizeTimes } from "./times.js";

function confirmForm(event) {
  const question = event.target.dataset?.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
}

startThemeToggle();
localizeTimes(document);
startSelection(document);
startDetails();
startMenus();
startHints();
document.addEventListener("submit", confirmForm);
document.addEventListener("htmx:afterSettle", () => {
  localizeTimes(document);
  startSelection(document);
});
