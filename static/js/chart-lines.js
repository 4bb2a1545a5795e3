// Lines over time or size: gaps stay gaps, the warm-up is shaded, marks stand at RAM and the like.
import { baseOptions, dash, legend, numberScale, pointStyle, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { gapPlugin, gapsHeight, markPlugin, marksHeight } from "./chart-marks.js";
import { exactNumber, withOrigin, withUnit } from "./format.js";

const MOST_MARKERS = 60;
const PLOT_PX = 320;

export const toData = (points) => points.map(([x, y]) => ({ x, y }));

function dataset(series, theme) {
  const colour = seriesColour(theme, series.color);
  const few = series.points.length <= MOST_MARKERS;
  return {
    label: series.label, data: toData(series.points), borderColor: colour, backgroundColor: colour,
    borderWidth: few ? 2 : 1.5, borderDash: series.dash ? dash((series.color % 7) + 1) : [],
    pointStyle: pointStyle(series.color), pointRadius: few ? 3 : 0, pointHoverRadius: 4, pointHitRadius: 8,
    spanGaps: false, tension: 0,
  };
}

/** With `bounds: "data"` the last tick is the last value, which collides with the regular one before it. */
export function evenTicks(ticks) {
  if (ticks.length < 3) return ticks;
  const [step, last] = [ticks[1].value - ticks[0].value, ticks.at(-1).value - ticks.at(-2).value];
  return last < step * 0.999 ? ticks.slice(0, -1) : ticks;
}

function bandBox(band, theme) {
  return {
    type: "box", xMin: band.from, xMax: band.to, backgroundColor: band.clear ? "transparent" : theme.band, borderWidth: 0, drawTime: "beforeDatasetsDraw",
    label: {
      display: true, content: band.label, position: { x: band.clear ? "center" : "start", y: band.below ? "end" : "start" }, color: theme.soft,
      backgroundColor: translucent(theme.panel, 0.8), padding: 3,
      font: { family: theme.font, size: 11, weight: "normal" },
    },
  };
}

function tooltipCallbacks(spec) {
  return {
    title: (items) => (items.length ? `${spec.x.label} ${withUnit(items[0].parsed.x, spec.x.unit)}` : ""),
    label(item) {
      const series = spec.series[item.datasetIndex];
      const printed = series?.origin?.startsWith("printed") && item.parsed.y !== null;
      const value = printed ? `${exactNumber(item.parsed.y)} ${spec.y.unit}`.trimEnd() : withUnit(item.parsed.y, spec.y.unit);
      return `${item.dataset.label}: ${value}${withOrigin(series)}`;
    },
  };
}

// Dragging over a stretch of the x axis zooms into it; charts.js then offers the way back.
function zoom(theme) {
  const drag = { enabled: true, threshold: 12, backgroundColor: translucent(theme.series[0], 0.15) };
  const onZoom = ({ chart }) => chart.canvas.dispatchEvent(new CustomEvent("benchsite:zoom", { bubbles: true }));
  return { zoom: { drag, mode: "x", onZoom } };
}

/** Room at the left of the data never shows sizes below zero. */
export function fromZero(xs) {
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  return least >= 0 && least < 0.05 * (most - least) ? { min: 0 } : {};
}

/** The legend goes below the plot where labels of marks stand above it. */
const raised = (shown, marks) => (marks.length ? { ...shown, position: "bottom" } : shown);

/** Height in px of a figure with gaps, which need room of their own; 0 leaves it to the style sheet. */
export const linesHeight = (spec) => (spec.gaps?.length ? PLOT_PX + gapsHeight(spec.gaps) : 0);

/** Chart.js configuration of a lines specification. */
export function linesConfig(spec, theme) {
  const gaps = spec.gaps ?? [];
  const xs = [...spec.series.flatMap((series) => series.points.map(([x]) => x)), ...gaps.flatMap((gap) => gap.xs)];
  const ys = spec.series.flatMap((series) => series.points.map(([, y]) => y)).filter((y) => y !== null);
  const annotations = spec.bands.map((band) => bandBox(band, theme));
  return {
    type: "line",
    data: { datasets: spec.series.map((series) => dataset(series, theme)) },
    options: {
      ...baseOptions(theme), layout: { padding: { top: marksHeight(spec.marks) + 4, bottom: gapsHeight(gaps) } },
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: numberScale(theme, spec.x, xs, spec.x.even ? { bounds: "ticks", grace: "4%", ...fromZero(xs) } : { bounds: "data", afterBuildTicks: (scale) => { scale.ticks = evenTicks(scale.ticks); } }),
        y: numberScale(theme, spec.y, ys, { beginAtZero: Boolean(spec.y.zero), grace: "5%" }),
      },
      plugins: {
        legend: raised(legend(theme, spec.series.length + gaps.length > 1), spec.marks),
        tooltip: { ...tooltip(theme), callbacks: tooltipCallbacks(spec) },
        annotation: { annotations }, zoom: zoom(theme),
      },
    },
    plugins: [...(gaps.length ? [gapPlugin(gaps, theme)] : []), ...(spec.marks.length ? [markPlugin(spec.marks, theme)] : [])],
  };
}
