// What stands behind the lines of a comparison: every repeat as a dot, the interval of each mean as a band.
import { seriesColour, translucent } from "./chart-theme.js";
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
        of, role: "dot", label: series.label, data: series.dots.map(([x, y]) => ({ x, y })), showLine: false, order: 20, pointStyle: "circle",
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

/** Lines beneath a value in the tooltip: what its interval is and how many repeats it has. */
export function repeatWords(series, x, unit) {
  const interval = series.band?.find(([at]) => at === x);
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
