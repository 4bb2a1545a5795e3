// One bar per row, made of parts that add up; the sum as a number at the right.
import { baseOptions, columnPx, legend, numberColumn, numberScale, rowScale, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { formatNumber, withOrigin, withUnit, wrapLabel } from "./format.js";

const ROW_PX = 36;
const FRAME_PX = 96;

export const stackedHeight = (spec) => FRAME_PX + spec.rows.length * ROW_PX;

/** Sums of the parts, row by row. */
export const rowSums = (spec) => spec.rows.map((_, row) => spec.parts.reduce((sum, part) => sum + part.values[row], 0));

/** Squares instead of the lines that a legend of line charts shows. */
function squares(theme) {
  const { labels, ...rest } = legend(theme, true);
  return { ...rest, labels: { color: labels.color, font: labels.font, boxWidth: 10, boxHeight: 10 } };
}

function dataset(part, theme) {
  const colour = seriesColour(theme, part.color);
  return {
    label: part.label, data: part.values.map((x, y) => ({ x, y })), backgroundColor: translucent(colour, 0.55),
    borderColor: colour, borderWidth: 1, barPercentage: 0.66, categoryPercentage: 1,
  };
}

/** Chart.js configuration of a stacked specification. */
export function stackedConfig(spec, theme, width = 1000) {
  const sums = rowSums(spec).map(formatNumber);
  return {
    type: "bar",
    data: { labels: spec.rows, datasets: spec.parts.map((part) => dataset(part, theme)) },
    options: {
      ...baseOptions(theme), normalized: false, indexAxis: "y", layout: { padding: { top: 4, right: columnPx(sums) } },
      scales: {
        x: { ...numberScale(theme, spec.y, [], { beginAtZero: true, grace: "3%" }), stacked: true },
        y: { ...rowScale(theme, spec.rows, (value) => wrapLabel(spec.rows[value], width < 520 ? 16 : 24)), stacked: true },
      },
      plugins: {
        legend: squares(theme),
        tooltip: { ...tooltip(theme), callbacks: { label: (item) => `${item.dataset.label}: ${withUnit(item.parsed.x, spec.y.unit)}${withOrigin(spec.parts[item.datasetIndex])}` } },
      },
    },
    plugins: [numberColumn(sums, theme)],
  };
}
