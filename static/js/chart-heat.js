// How many took how long over time: a cell for each interval and step of latency, the stronger the more, by logarithms.
import { baseOptions, drawing, numberScale, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { markPlugin, marksHeight } from "./chart-marks.js";
import { formatNumber, withUnit } from "./format.js";

const FAINTEST = 0.1;

export const heatHeight = () => 260;

/** How strong a cell is that holds `count` of at most `most`. */
export const shade = (count, most) => FAINTEST + (1 - FAINTEST) * (most > 1 ? Math.log(count) / Math.log(most) : 1);

const cells = (spec, theme) => drawing("benchsiteHeat", ({ ctx: context, chartArea: { left, top, right, bottom }, scales: { x, y } }) => {
  const most = Math.max(...spec.cells.map(([, , , count]) => count));
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  for (const [begin, low, high, count] of spec.cells) {
    context.fillStyle = translucent(seriesColour(theme, 0), shade(count, most));
    // At whole pixels, or seams show between neighbours.
    const [from, to] = [begin, begin + spec.interval_s].map((value) => Math.round(x.getPixelForValue(value)));
    const [upper, lower] = [high, low].map((value) => Math.round(y.getPixelForValue(value)));
    context.fillRect(from, upper, to - from, lower - upper);
  }
}, "beforeDatasetsDraw");

/** Chart.js configuration of a heat specification. */
export function heatConfig(spec, theme) {
  const data = spec.cells.map(([begin, low, high]) => ({ x: begin + spec.interval_s / 2, y: Math.sqrt(low * high) }));
  const [least, most] = spec.y.span;
  const end = Math.max(...spec.cells.map(([begin]) => begin)) + spec.interval_s;
  const marks = spec.bands.map(({ to }) => ({ axis: "x", value: to, label: "warm-up ends" }));
  const rows = marks.map(() => 0);
  return {
    type: "scatter",
    data: { datasets: [{ data, pointRadius: 0, pointHoverRadius: 0, pointHitRadius: 6 }] },
    options: {
      ...baseOptions(theme), layout: { padding: { top: marksHeight(marks, rows) } }, interaction: { mode: "nearest", axis: "xy", intersect: false },
      scales: { x: { ...numberScale(theme, spec.x, [0, end], {}), min: 0, max: end }, y: { ...numberScale(theme, spec.y, spec.y.span, {}), min: least, max: most } },
      plugins: {
        legend: { display: false }, zoom: {},
        tooltip: { ...tooltip(theme), callbacks: {
          title: ([item]) => (item ? `${formatNumber(spec.cells[item.dataIndex][0])} to ${withUnit(spec.cells[item.dataIndex][0] + spec.interval_s, spec.x.unit)}` : ""),
          label: ({ dataIndex }) => `${formatNumber(spec.cells[dataIndex][1])} to ${withUnit(spec.cells[dataIndex][2], spec.y.unit)}: ${formatNumber(spec.cells[dataIndex][3])} transactions`,
        } },
      },
    },
    plugins: [cells(spec, theme), markPlugin(marks, rows, theme)],
  };
}
