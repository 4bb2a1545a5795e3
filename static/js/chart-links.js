// A click on a bar, a dot or a point leads to what is behind it: the row of its group in the table of the chart, which has
// the links to its runs; of a repeat the run itself.

/** The place of the table of a chart's numbers, on a page or beneath several panels. */
export const numbersOf = (figure) => figure.querySelector("details") ?? figure.closest(".multiples")?.querySelector(":scope > details");

/** {row, value} of an element: its row in that table, and of a repeat its value; {url} of a line that is one run's. null
 *  where nothing is behind it. */
export function behind(spec, { datasetIndex, index }, { data, role, of }) {
  const raw = data[index];
  if (spec.type === "tradeoff") return raw.row === undefined ? null : { row: raw.row };
  if (spec.type === "bars") {
    const { row } = spec.groups[raw.group ?? index];
    return row === undefined ? null : { row, ...(raw.group === undefined ? {} : { value: raw.x }) };
  }
  const isRepeat = role === "dot";
  const series = spec.type === "lines" && (isRepeat || !role) ? spec.series[of ?? datasetIndex] : undefined;
  if (series?.url) return { url: series.url };
  if (series?.row === undefined) return null;
  const at = isRepeat ? series.points.findIndex(([x]) => x === raw.x) : index;
  return { row: series.row + at, ...(isRepeat ? { value: raw.y } : {}) };
}

/** What a click at this place of the chart leads to: a row, or a link in one. */
function targetAt(figure, spec, chart, event) {
  const hit = (mode) => chart.getElementsAtEventForMode(event, mode, { axis: "xy", intersect: true }, false);
  const [nearest] = hit("nearest");
  if (!nearest) return null;
  const { of } = chart.data.datasets[nearest.datasetIndex];
  // Repeats that hardly scatter lie beneath their point.
  const element = hit("point").find(({ datasetIndex }) => datasetIndex === of) ?? nearest;
  const found = behind(spec, element, chart.data.datasets[element.datasetIndex]);
  const numbers = found && numbersOf(figure);
  if (found?.url) return numbers?.querySelector(`a[href="${found.url}"]`) ?? null;
  const row = numbers?.querySelectorAll("tbody tr")[found.row];
  if (!row || found.value === undefined) return row ?? null;
  return [...row.querySelectorAll("[data-value] > a")].find((link) => Number(link.parentElement.dataset.value) === found.value) ?? row;
}

function showRow(row) {
  row.closest("details").open = true;
  for (const marked of document.querySelectorAll(":is(figure, .multiples) tr[data-selected]")) delete marked.dataset.selected;
  row.dataset.selected = "";
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "center" });
}

/** Chart.js plugin. A finger's first tap shows the tooltip of an element, its second leads on. */
export function linksPlugin(figure, spec) {
  let [last, isFirstTap] = [null, false];
  return {
    id: "benchsiteLinks",
    afterEvent(chart, { event: { native }, inChartArea }) {
      const target = inChartArea ? targetAt(figure, spec, chart, native) : null;
      chart.canvas.style.cursor = target ? "pointer" : "";
      if (native.type === "touchstart") isFirstTap = target !== last;
      last = target;
      if (native.type !== "click") return;
      if (target && !isFirstTap) {
        if (target.matches("tr")) showRow(target);
        // With its keys: a new tab for whoever holds Ctrl.
        else target.dispatchEvent(new MouseEvent("click", native));
      }
      isFirstTap = false;
    },
  };
}
