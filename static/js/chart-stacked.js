// One bar per row, made of parts that add up; the sum as a number at the right.
import { baseOptions, legend, scaleBase, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { axisTitle, formatNumber, withOrigin, withUnit, wrapLabel } from "./format.js";

const ROW_PX = 36;
const FRAME_PX = 96;
const VALUE_FONT_PX = 12;

export const stackedHeight = (spec) => FRAME_PX + spec.rows.length * ROW_PX;

/** Sums of the parts, row by row. */
export const rowSums = (spec) => spec.rows.map((_, row) => spec.parts.reduce((sum, part) => sum + part.values[row], 0));

/** Squares instead of the lines that a legend of line charts shows. */
function squares(theme) {
  const { labels, ...rest } = legend(theme, true);
  return { ...rest, labels: { color: labels.color, font: labels.font, boxWidth: 10, boxHeight: 10 } };
}

const sums = (spec, totals, theme) => ({
  id: "benchsiteSums",
  afterDatasetsDraw(chart) {
    const context = chart.ctx;
    context.save();
    context.font = `600 ${VALUE_FONT_PX}px ${theme.font}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = theme.ink;
    totals.forEach((total, row) => context.fillText(formatNumber(total), chart.width - 4, chart.scales.y.getPixelForValue(row)));
    context.restore();
  },
});

function dataset(part, theme) {
  const colour = seriesColour(theme, part.color);
  return {
    label: part.label, data: part.values.map((x, y) => ({ x, y })), backgroundColor: translucent(colour, 0.55),
    borderColor: colour, borderWidth: 1, barPercentage: 0.66, categoryPercentage: 1,
  };
}

/** Chart.js configuration of a stacked specification. */
export function stackedConfig(spec, theme) {
  const totals = rowSums(spec);
  const values = scaleBase(theme, axisTitle(spec.y));
  const names = scaleBase(theme, "");
  const widest = Math.max(0, ...totals.map((total) => formatNumber(total).length));
  return {
    type: "bar",
    data: { labels: spec.rows, datasets: spec.parts.map((part) => dataset(part, theme)) },
    options: {
      ...baseOptions(theme), normalized: false, indexAxis: "y", layout: { padding: { top: 4, right: widest * 7.5 + 14 } },
      scales: {
        x: { ...values, stacked: true, beginAtZero: true, grace: "3%", ticks: { ...values.ticks, callback: (value) => formatNumber(value) } },
        y: {
          ...names, type: "category", labels: spec.rows, stacked: true, offset: true, grid: { display: false },
          ticks: { ...names.ticks, color: theme.ink, autoSkip: false, callback: (value) => wrapLabel(spec.rows[value], 24) },
        },
      },
      plugins: {
        legend: squares(theme),
        tooltip: { ...tooltip(theme), callbacks: { label: (item) => `${item.dataset.label}: ${withUnit(item.parsed.x, spec.y.unit)}${withOrigin(spec.parts[item.datasetIndex])}` } },
      },
    },
    plugins: [sums(spec, totals, theme)],
  };
}
