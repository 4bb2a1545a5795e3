// What stands behind the lines of a comparison: every repeat as a dot, the interval of each mean as a band.
import { drawLine, drawShape, drawing, seriesColour, toData, translucent } from "./chart-theme.js";
import { withUnit } from "./format.js";

const DOT_PX = 2.5;

const hidden = { borderWidth: 0, pointRadius: 0, pointHoverRadius: 0, pointHitRadius: 0, order: 30 };

/** A band breaks where a point has no interval, and with the line where a value is lost. */
function bandData(series, end) {
  const ends = new Map(series.band.map(([x, low, high]) => [x, [low, high]]));
  return series.points.map(([x]) => ({ x, y: ends.get(x)?.[end] ?? null }));
}

/** Datasets beneath those of the lines, which keep their places; `of` is the index of the line. */
export function repeatDatasets(spec, theme) {
  return spec.series.flatMap((series, of) => {
    const colour = seriesColour(theme, series.color);
    const datasets = [];
    if (series.dots?.length) {
      datasets.push({
        of, role: "dot", label: series.label, data: toData(series.dots), showLine: false, order: 20, pointStyle: "circle",
        pointRadius: DOT_PX, pointHoverRadius: DOT_PX + 1.5, pointHitRadius: 4, backgroundColor: translucent(colour, 0.45), borderColor: colour, borderWidth: 0,
      });
    }
    if (series.band?.length) {
      datasets.push({ ...hidden, of, role: "band", label: series.label, data: bandData(series, 0), fill: "+1", backgroundColor: translucent(colour, 0.16) });
      datasets.push({ ...hidden, of, role: "band", label: series.label, data: bandData(series, 1) });
    }
    return datasets;
  });
}

/** Intervals of points whose neighbours have none that a band could reach to: [x, low, high]. */
export function alone(series) {
  const banded = new Map((series.band ?? []).map((interval) => [interval[0], interval]));
  const has = (at) => banded.has(series.points[at]?.[0]);
  return series.points.flatMap(([x], at) => (banded.has(x) && !has(at - 1) && !has(at + 1) ? [banded.get(x)] : []));
}

/** Chart.js plugin: intervals that a band could not show; those that reach too far end in an arrow at the upper edge. */
export const openIntervals = (spec, theme) => drawing("benchsiteOpen", (chart) => {
  const { ctx: context, chartArea: { top, bottom }, scales: { x, y } } = chart;
  context.lineWidth = 1.5;
  spec.series.forEach((series, index) => {
    if (!chart.isDatasetVisible(index)) return;
    context.strokeStyle = context.fillStyle = translucent(seriesColour(theme, series.color), 0.55);
    // Those of several series at one place stand beside each other.
    const place = (value) => x.getPixelForValue(value) + (index % 5) * 3 - Math.min(spec.series.length - 1, 4) * 1.5;
    for (const [value, low, high] of alone(series)) {
      const at = place(value);
      drawLine(context, [at, y.getPixelForValue(low)], [at, y.getPixelForValue(high)]);
    }
    for (const [value, low] of series.open ?? []) {
      const at = place(value);
      drawLine(context, [at, Math.min(bottom, Math.max(top, y.getPixelForValue(low)))], [at, top + 6]);
      drawShape(context, [at, top], [at - 4, top + 8], [at + 4, top + 8]);
    }
  });
}, "beforeDatasetsDraw");

/** Lines beneath a value in the tooltip: what its interval is and how many repeats it has. */
export function repeatWords(series, x, unit) {
  const interval = [...(series.band ?? []), ...(series.open ?? [])].find(([at]) => at === x);
  const repeats = series.dots?.filter(([at]) => at === x).length ?? 0;
  return [
    ...(interval ? [`interval ${withUnit(interval[1], "")} to ${withUnit(interval[2], unit)}`] : []),
    ...(repeats ? [`${repeats} repeats`] : []),
  ];
}

/** The legend names lines only; what belongs to one is hidden with it. */
export const repeatLegend = {
  onClick(_, item, legend) {
    const { chart } = legend;
    const shown = !chart.isDatasetVisible(item.datasetIndex);
    chart.data.datasets.forEach((dataset, index) => {
      if (index === item.datasetIndex || dataset.of === item.datasetIndex) chart.setDatasetVisibility(index, shown);
    });
    chart.update("none");
  },
};
