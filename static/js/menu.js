// A menu made of <details> closes when something else is clicked, and with Escape.

const openMenus = () => document.querySelectorAll("details.menu[open]");

export function startMenus() {
  document.addEventListener("click", (event) => {
    for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of openMenus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}
