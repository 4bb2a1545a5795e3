// A benchmark's page: a click on a batch in the chart ticks its row, two at most. Lists with data-keyboard-rows go by j, k.
const DRAG_PX = 5;

/** What is ticked now, in the order in which it was ticked; `before` is what was ticked until now. */
export const inOrder = (before, checked) => [...before.filter((box) => checked.includes(box)), ...checked.filter((box) => !before.includes(box))];

const nameOf = (box) => box.closest("tr").querySelector("th a").textContent.trim();

function startPicking(panel) {
  const [canvas, form] = [panel.querySelector("canvas"), document.getElementById("batches")];
  if (!canvas || !form) return;
  const picked = panel.querySelector("[data-picked]");
  let [from, ticked] = [null, []];
  const show = () => {
    ticked = inOrder(ticked, [...form.querySelectorAll("[data-batch]:checked")]);
    picked.hidden = !ticked.length;
    picked.querySelector("[role=status]").textContent = ticked.map(nameOf).join(" and ");
  };
  canvas.addEventListener("pointerdown", (event) => { from = event.clientX; });
  canvas.addEventListener("click", (event) => {
    const { scales, chartArea } = canvas.benchsiteChart;
    const px = event.clientX - canvas.getBoundingClientRect().left;
    if (px < chartArea.left || px > chartArea.right || Math.abs(event.clientX - from) > DRAG_PX) return;
    const box = form.querySelector(`[data-batch="${Math.round(scales.x.getValueForPixel(px))}"]`);
    if (!box) return;
    box.checked = !box.checked;
    // What was ticked first gives way to a third one.
    if (box.checked) for (const first of ticked.slice(0, -1)) first.checked = false;
    show();
  });
  form.addEventListener("change", show);
  // Whoever comes back finds what was ticked.
  window.addEventListener("pageshow", show);
}

function startKeys(table) {
  const links = [...table.querySelectorAll("tbody th a")];
  document.addEventListener("keydown", (event) => {
    const step = { j: 1, k: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    const at = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  });
}

for (const panel of document.querySelectorAll("[data-picks-batches]")) startPicking(panel);
for (const table of document.querySelectorAll("[data-keyboard-rows]")) startKeys(table);
for (const hint of document.querySelectorAll("[data-keys-hint]")) hint.hidden = !matchMedia("(hover: hover)").matches;
