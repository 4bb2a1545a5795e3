// Tick runs of a list; tray.js keeps them. Without JavaScript the form's own button sends the ticked boxes.

function update(form) {
  const boxes = [...form.querySelectorAll("input[type=checkbox][name=run]")];
  const ticked = boxes.filter((box) => box.checked);
  for (const box of boxes) box.closest("tr")?.toggleAttribute("data-selected", box.checked);
  const all = form.querySelector("[data-tick-all]");
  if (all) {
    all.checked = boxes.length > 0 && ticked.length === boxes.length;
    all.indeterminate = ticked.length > 0 && ticked.length < boxes.length;
  }
}

function onChange(event) {
  const form = event.currentTarget;
  if (event.target.matches("[data-tick-all]")) {
    for (const box of form.querySelectorAll("input[type=checkbox][name=run]")) box.checked = event.target.checked;
  }
  update(form);
}

export function startSelection(root) {
  for (const form of root.querySelectorAll("form[data-select-runs]:not([data-started])")) {
    form.dataset.started = "";
    form.addEventListener("change", onChange);
    for (const cell of form.querySelectorAll("[data-needs-js]")) cell.hidden = false;
    for (const part of form.querySelectorAll("[data-without-js]")) part.hidden = true;
    update(form);
  }
}
