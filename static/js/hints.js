// Escape puts away the hint of a number (css/numbers.css); it comes back when the pointer or the focus comes anew.
export function startHints() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.activeElement?.closest(".number")?.blur();
    for (const number of document.querySelectorAll(".number:hover")) number.setAttribute("data-hushed", "");
  });
  for (const comes of ["pointerover", "focusin"]) {
    document.addEventListener(comes, (event) => event.target.closest?.(".number")?.removeAttribute("data-hushed"));
  }
}
