// Lines over time or size: gaps stay gaps, the warm-up is shaded, marks stand at RAM and the like.
import { KEY_PX, baseOptions, dash, keyPlugin, legend, numberScale, pointStyle, seriesColour, toData, tooltip, translucent } from "./chart-theme.js";
import { bandPlugin, gapPlugin, gapsHeight, markPlugin, markRows, marksHeight, overlayDatasets } from "./chart-marks.js";
import { openIntervals, repeatDatasets, repeatLegend, repeatWords } from "./chart-repeats.js";
import { clockTicks, clockWords, eventsAt, isLong, timePlugin } from "./chart-time.js";
import { exactNumber, formatNumber, percentileWords, roundEnd, sizeWords, withOrigin, withUnit } from "./format.js";

const MOST_MARKERS = 60;
// The plot of a panel is as high as that of its neighbours (charts.css): their axes are the same.
const PLOT_PX = 320, PANEL_PX = 240, LEAST_PX = 160;
const LEAP_DOTS = [1, 5];
// Of a legend: so many rows have room in a figure as it is.
const FREE_ROWS = 2, KEY_ROW_PX = 20, KEY_GAP_PX = 16, LETTER_PX = 6.5;
const LOG_ROOM = 1.15;
const AXIS_PX = 56;
// So many levels are ticks, where they have room.
const MOST_LEVELS = 12;
const TICK_GAP_PX = 12, TICK_LETTER_PX = 7;
// Between numbers of an axis of shares, and their distances.
const SHARE_PX = 34;
const SHARE_STEPS = [1, 2, 5, 10, 20, 25, 50, 100];

/** Dots where a line leaps over a decade or more of a number that was varied: nothing was measured there. */
const dotted = ({ leaps }) => (leaps?.length ? { segment: { borderDash: ({ p1 }) => (leaps.includes(p1.parsed.x) ? LEAP_DOTS : undefined) } } : {});

function dataset(series, theme, { alike }) {
  const colour = seriesColour(theme, series.color);
  const few = series.points.length <= MOST_MARKERS;
  return {
    label: series.label, color: series.color, dashed: Boolean(series.dash), data: toData(series.points), borderColor: colour, backgroundColor: colour,
    borderWidth: alike ? 1 : few ? 2 : 1.5, borderDash: series.dash ? dash((series.color % 7) + 1) : [],
    pointStyle: pointStyle(series.color), pointRadius: few ? 3 : 0, pointHoverRadius: 4, pointHitRadius: 8,
    // A point at the end of an axis is drawn whole.
    spanGaps: false, tension: 0, clip: 5, ...dotted(series),
  };
}

/** With `bounds: "data"` the last tick is the last value, which collides with the regular one before it. */
export function evenTicks(ticks) {
  if (ticks.length < 3) return ticks;
  const [step, last] = [ticks[1].value - ticks[0].value, ticks.at(-1).value - ticks.at(-2).value];
  return last < step * 0.999 ? ticks.slice(0, -1) : ticks;
}

function tooltipCallbacks(spec) {
  return {
    title: (items) => (items.length ? `${spec.x.label} ${xWords(spec.x, items[0].parsed.x)}` : ""),
    label(item) {
      if (item.dataset.role) return `${item.dataset.label}, this repeat: ${withUnit(item.parsed.y, spec.y.unit)}`;
      const series = spec.series[item.datasetIndex];
      const printed = series?.origin?.startsWith("printed") && item.parsed.y !== null;
      const value = printed ? `${exactNumber(item.parsed.y)} ${spec.y.unit}`.trimEnd() : withUnit(item.parsed.y, spec.y.unit);
      return [`${item.dataset.label}: ${value}${withOrigin(series)}`, ...repeatWords(series, item.parsed.x, spec.y.unit)];
    },
    afterBody: (items) => (items.length ? eventsAt(spec, items[0].chart, items[0].parsed.x) : []),
  };
}

/** Of a number, or of the name that stands there. */
function xWords(axis, x) {
  if (axis.nines) return percentileWords(x);
  if (axis.unit === "MB") return sizeWords(x);
  const long = axis.unit === "s" && x >= 3600 ? ` (${clockWords(x)})` : "";
  return axis.ticks?.find(([at]) => at === x)?.[1] ?? `${withUnit(x, axis.unit)}${long}`;
}

/** Minutes and hours of a long run. */
const longScale = (scale) => ({
  ...scale, title: { ...scale.title, text: "Time (h:min)" }, ticks: { ...scale.ticks, callback: clockWords },
  afterBuildTicks: (built) => { built.ticks = clockTicks(built.min, built.max).map((value) => ({ value })); },
});

/** Of `[place, words]` those that have room beside each other on `px` from `min` to `max`, the last one among them. */
export function tellableTicks(ticks, { min, max, px }) {
  // Of a stretch that is zoomed into those that lie in it.
  const within = ticks.filter(([at]) => at >= min && at <= max);
  const letters = Math.max(...within.map(([, words]) => words.length));
  const apart = ((letters * TICK_LETTER_PX + TICK_GAP_PX) / px) * (max - min);
  return within.reduceRight((kept, tick) => (kept.length && kept[0][0] - tick[0] < apart ? kept : [tick, ...kept]), []);
}

/** What the plot has of the width: the axis at its left takes the rest, which is not known when ticks are built. */
const plotPx = (built) => built.width - AXIS_PX;

/** The words of an axis of names or dates at their places. */
function namedTicks(scale, { ticks, nines, span }) {
  const words = new Map(ticks);
  const [first, last] = nines ? span : [ticks[0][0], ticks.at(-1)[0]];
  const room = nines ? 0 : (last - first || 1) * 0.08;
  return {
    ...scale, min: first - room, max: last + room,
    afterBuildTicks: (built) => {
      built.ticks = tellableTicks(ticks, { min: built.min, max: built.max, px: plotPx(built) }).map(([value]) => ({ value }));
    },
    ticks: { ...scale.ticks, autoSkip: false, callback: (value) => words.get(value) ?? "" },
  };
}

/** An axis that holds the span, with some room around it. */
function spanned(scale, { span, scale: kind }) {
  if (!span) return scale;
  const [least, most] = span;
  if (kind === "log") return { ...scale, min: least / LOG_ROOM, max: most * LOG_ROOM };
  const room = (most - least) * 0.04;
  return { ...scale, grace: 0, suggestedMin: least < room ? least : least - room, suggestedMax: most + room };
}

/** Of the levels that were measured, where they are few, those that have room as ticks; none where most have not. */
export function levelTicks(xs, { isLog, min, max, px, words = formatNumber }) {
  const levels = [...new Set(xs)].sort((a, b) => a - b);
  if (levels.length > MOST_LEVELS) return [];
  const place = (x) => (isLog ? Math.log(x) : x);
  const named = new Map(levels.map((x) => [place(x), x]));
  const ticks = levels.map((x) => [place(x), words(x)]);
  const shown = tellableTicks(ticks, { min: place(min), max: place(max), px });
  return shown.length > levels.length / 2 ? shown.map(([at]) => named.get(at)) : [];
}

/** An axis of MB that holds more than 1,000 says each size in its own unit. */
export const sized = (axis, xs) => (axis.unit === "MB" && Math.max(...xs) >= 1000 ? { ...axis, unit: "", words: sizeWords } : axis);

function xScale(spec, xs, theme) {
  const even = { bounds: "ticks", grace: "4%", ...fromZero(xs) };
  const filling = { bounds: "data", afterBuildTicks: (scale) => { scale.ticks = evenTicks(scale.ticks); } };
  const axis = sized(spec.x, xs);
  const scale = spanned(numberScale(theme, axis, [...xs, ...(spec.x.span ?? [])], spec.x.even ? even : filling), spec.x);
  if (isLong(spec.x, xs)) return longScale(scale);
  if (spec.x.ticks) return namedTicks(scale, spec.x);
  if (spec.x.scale !== "log" && new Set(xs).size === 1 && !spec.sync) return aroundOne(scale, xs[0]);
  if (!spec.x.span || spec.sync) return scale;
  const isLog = spec.x.scale === "log";
  return {
    ...scale, afterBuildTicks: (built) => {
      scale.afterBuildTicks?.(built);
      const levels = levelTicks(xs, { isLog, min: built.min, max: built.max, px: plotPx(built), words: axis.words });
      if (levels.length) built.ticks = levels.map((value) => ({ value }));
    },
  };
}

/** Air above the highest value, as `room`; of shares that reach 100 % none, since nothing is above. */
export function above({ unit }, ys, room = { grace: "5%" }) {
  const most = Math.max(...ys);
  if (!(unit === "%" && most > 95 && most <= 100)) return room;
  return { max: 100, afterBuildTicks: (built) => { built.ticks = shareTicks(built.min, built.height).map((value) => ({ value })); } };
}

/** From 100 % down to the least that is shown, on `px`: what reaches the top has its number there. */
export function shareTicks(min, px) {
  const step = SHARE_STEPS.find((each) => ((100 - min) / each) * SHARE_PX <= px) ?? 100 - min;
  return Array.from({ length: Math.floor((100 - min) / step) + 1 }, (_, index) => 100 - index * step).reverse();
}

/** Around one value, which is the only tick: none of the others was measured. */
const aroundOne = (scale, x) => ({
  ...scale, bounds: "data", grace: 0, min: x - (Math.abs(x) / 2 || 1), max: x + (Math.abs(x) / 2 || 1),
  afterBuildTicks: (built) => { built.ticks = [{ value: x }]; },
});

/** An axis from zero, or below it where values are, to round numbers beyond all of them. */
export function roundEnds([least, most]) {
  const end = (value) => (value > 0 ? roundEnd(value * 1.02) : 0);
  return { min: 0 - end(-least), max: end(most) };
}

function yScale(spec, theme) {
  // Panels end at the same number, which a band may run beyond.
  if (spec.y.span && spec.y.zero) return { ...numberScale(theme, spec.y, [], {}), ...roundEnds(spec.y.span), ...above(spec.y, spec.y.span, {}) };
  const isShared = Boolean(spec.panel && !spec.sync && spec.y.span);
  const ys = isShared ? spec.y.span : spec.series.flatMap((series) => series.points.map(([, y]) => y)).filter((y) => y !== null);
  // From a distance a logarithmic axis looks like any other.
  const axis = spec.y.scale === "log" ? { ...spec.y, unit: `${spec.y.unit}, logarithmic` } : spec.y;
  const scale = spanned(numberScale(theme, axis, [...ys, ...(spec.y.span ?? [])], { beginAtZero: Boolean(spec.y.zero), ...above(spec.y, ys) }), spec.y);
  if (isShared) return { ...scale, min: scale.min ?? scale.suggestedMin, max: scale.max ?? scale.suggestedMax };
  // Panels above each other begin at the same place.
  return spec.sync && spec.panel ? { ...scale, afterFit: (fitted) => { fitted.width = AXIS_PX; } } : scale;
}

// Dragging over a stretch of the x axis zooms into it; charts.js then offers the way back.
function zoom(theme) {
  const drag = { enabled: true, threshold: 12, backgroundColor: translucent(theme.series[0], 0.15) };
  const onZoom = ({ chart }) => !chart.benchsiteFollows && chart.canvas.dispatchEvent(new CustomEvent("benchsite:zoom", { bubbles: true }));
  return { zoom: { drag, mode: "x", onZoom } };
}

/** Room at the left of the data never shows sizes below zero. */
export function fromZero(xs) {
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  return least >= 0 && least < 0.05 * (most - least) ? { min: 0 } : {};
}

const hasLegend = ({ panel, alike, series = [], gaps = [] }) => !panel && !alike && new Set([...series, ...gaps].map(({ label }) => label)).size > 1;

/** The legend goes below the plot where labels of marks stand above it. */
const raised = (shown, marks) => (marks.length ? { ...shown, position: "bottom" } : shown);

/** Rows that a legend of these labels takes, `width` in px. */
function legendRows(labels, width) {
  let [rows, used] = [1, 0];
  for (const label of labels) {
    const wide = KEY_PX + label.length * LETTER_PX + KEY_GAP_PX;
    if (used && used + wide > width) [rows, used] = [rows + 1, 0];
    used += wide;
  }
  return rows;
}

/** Height in px of a figure with gaps or a long legend, which need room of their own; 0 leaves it to the style sheet.
 *  `isFramed`: at least. */
export function linesHeight(spec, width, isFramed = false) {
  const rows = hasLegend(spec) ? legendRows([...spec.series, ...(spec.gaps ?? [])].map(({ label }) => label), width) : 0;
  const more = gapsHeight(spec.gaps ?? []) + Math.max(0, rows - FREE_ROWS) * KEY_ROW_PX;
  return more ? (isFramed ? LEAST_PX : spec.panel ? PANEL_PX : PLOT_PX) + more : 0;
}

/** Chart.js configuration of a lines specification. */
export function linesConfig(spec, theme, width = 1000) {
  const gaps = spec.gaps ?? [];
  const xs = [...spec.series.flatMap((series) => series.points.map(([x]) => x)), ...gaps.flatMap((gap) => gap.xs)];
  const rows = markRows(spec.marks, spec.x, width);
  return {
    type: "line",
    data: { datasets: [...spec.series.map((series) => dataset(series, theme, spec)), ...repeatDatasets(spec, theme), ...overlayDatasets(spec, theme)] },
    options: {
      ...baseOptions(theme), layout: { padding: { top: marksHeight(spec.marks, rows) + 4, bottom: gapsHeight(gaps) } },
      interaction: { mode: "nearest", axis: spec.alike ? "xy" : "x", intersect: false },
      scales: { x: xScale(spec, xs, theme), y: yScale(spec, theme) },
      plugins: {
        legend: { ...raised(legend(theme, hasLegend(spec)), spec.marks), ...repeatLegend },
        tooltip: { ...tooltip(theme), callbacks: tooltipCallbacks(spec), filter: (item) => !["band", "overlay"].includes(item.dataset.role) },
        zoom: zoom(theme),
      },
    },
    plugins: [...(spec.bands.length ? [bandPlugin(spec.bands, theme)] : []), ...(spec.series.some((series) => series.band) ? [openIntervals(spec, theme)] : []), ...(hasLegend(spec) ? [keyPlugin] : []), ...(spec.sync || spec.events?.length ? [timePlugin(spec, theme)] : []), ...(gaps.length ? [gapPlugin(gaps, theme)] : []), ...(spec.marks.length ? [markPlugin(spec.marks, rows, theme)] : [])],
  };
}
