// The toggle between light and dark. Without a choice the system decides.

export const currentTheme = () =>
  document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** Call `listener` whenever the colours change: by the toggle or by the system. */
export function onThemeChange(listener) {
  document.addEventListener("benchsite:theme", listener);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
  document.dispatchEvent(new CustomEvent("benchsite:theme"));
}

export function startThemeToggle() {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.hidden = false;
    button.addEventListener("click", () => setTheme(currentTheme() === "dark" ? "light" : "dark"));
  }
}
