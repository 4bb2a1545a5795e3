// Loaded before the style sheets, so that a remembered theme is there at the first paint.
(() => {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
