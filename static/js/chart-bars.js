// One row per group: a bar to its value, the interval as a whisker, every repeat as a dot, the median as a tick, a hatched
// room for a gap.
import { baseOptions, columnPx, drawLine, drawShape, drawing, numberColumn, numberScale, rowScale, seriesColour, titleLines, tooltip, translucent } from "./chart-theme.js";
import { fitText, hatch, markPlugin, marksHeight } from "./chart-marks.js";
import { axisTitle, formatNumber, spread, withOrigin, withUnit, wrapLabel } from "./format.js";

const ROW_PX = 46, LEAST_ROW_PX = 24;
const LINE_PX = 15;
const FRAME_PX = 60;
const DOT_SPREAD = 0.36;
const VALUE_FONT_PX = 12;
const WHISKER_PX = 10;
// How far, in lengths of the longest bar, an interval of few scattered repeats may stretch the axis.
const WHISKER_REACH = 1.15;
// How far under the number of a row the end of its interval stands, where that is cut.
const END_PX = 14;
// An interval that reaches beyond so many times its mean comes of too few repeats; the table holds its end.
const TELLING_TIMES = 10;

// Chart.js leaves half of what the numbers leave to the labels, and cuts them at their beginning: of a phone 100 px.
const labelWidth = (chartWidth) => (chartWidth < 400 ? 14 : chartWidth < 520 ? 16 : 34);

/** The lines of a group's label. */
export function labelLines(group, chartWidth) {
  const lines = wrapLabel(group.label, labelWidth(chartWidth));
  return group.ranked ? lines : [...lines, "(not ranked)"];
}

/** Height in px that the figure needs for its groups and their labels; `isFramed`: at least. */
export function barsHeight(spec, chartWidth = 1000, isFramed = false) {
  const most = Math.max(1, ...spec.groups.map((group) => labelLines(group, chartWidth).length));
  const more = (titleLines(axisTitle(spec.y), "x", chartWidth).length - 1) * LINE_PX;
  return FRAME_PX + more + Math.max(1, spec.groups.length) * Math.max(isFramed ? LEAST_ROW_PX : ROW_PX, most * LINE_PX + (isFramed ? 3 : 8));
}

/** [{x, y, group}] of all repeats; y is the row with an offset that keeps equal dots apart. */
export function dotData(groups) {
  return groups.flatMap((group, row) => {
    const offsets = spread(group.dots.length);
    return group.dots.map((x, index) => ({ x, y: row + offsets[index] * DOT_SPREAD, group: row }));
  });
}

/** [{x, y}] of the values; x is null for a gap. */
export const barData = (groups) => groups.map(({ value }, row) => ({ x: value, y: row }));

function barDataset({ groups, scale, base }, theme) {
  const isLog = scale === "log";
  const colours = groups.map((group) => seriesColour(theme, group.color));
  return {
    type: "bar", label: "Value", data: barData(groups), order: 2, barPercentage: 0.62, categoryPercentage: 1,
    // A bar begins at 0, which a logarithmic axis has not: its end alone is drawn.
    backgroundColor: isLog ? "transparent" : groups.map((group, row) => (group.claim ? hatched(colours[row]) : translucent(colours[row], group.ranked ? 0.32 : 0.12))),
    borderColor: colours, borderSkipped: false, base,
    borderWidth: groups.map(({ value }) => ({ top: 0, right: 0, bottom: 0, left: 0, [base !== undefined && value < base ? "left" : "right"]: 3 })),
    minBarLength: 2,
  };
}

/** Fill of a bar that no measured value stands behind: a published "about 5 times". */
function hatched(colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const context = tile.getContext("2d");
  context.strokeStyle = translucent(colour, 0.6);
  context.lineWidth = 1.5;
  for (const shift of [-8, 0, 8]) drawLine(context, [shift, 8], [shift + 8, 0]);
  return context.createPattern(tile, "repeat");
}

function dotDataset(groups, theme) {
  const data = dotData(groups);
  return {
    type: "scatter", label: "Repeats", data, order: 1, pointRadius: 4, pointHoverRadius: 5,
    pointBackgroundColor: data.map((dot) => seriesColour(theme, groups[dot.group].color)), pointBorderColor: theme.panel,
    pointBorderWidth: 1.25,
  };
}

function drawGap(chart, group, row, theme) {
  const { left, right } = chart.chartArea;
  const middle = chart.scales.y.getPixelForValue(row);
  const height = Math.abs(chart.scales.y.getPixelForValue(1) - chart.scales.y.getPixelForValue(0)) || ROW_PX;
  const context = chart.ctx;
  hatch(context, { left: left + 1, top: middle - height * 0.31, width: right - left - 1, height: height * 0.62 }, theme.grid);
  context.font = `${VALUE_FONT_PX}px ${theme.font}`;
  context.textBaseline = "middle";
  const text = fitText(context, `not known: ${group.gap}`, right - left - 24);
  context.fillStyle = theme.panel;
  context.fillRect(left + 8, middle - 9, context.measureText(text).width + 8, 18);
  context.fillStyle = theme.mark;
  context.fillText(text, left + 12, middle);
}

const valueText = (group) => (group.value === null ? "" : (group.text ?? formatNumber(group.value)));

/** Draws the gaps, which Chart.js has no element for. */
const gaps = (groups, theme) => drawing("benchsiteGaps", (chart) => {
  groups.forEach((group, row) => {
    if (group.value === null && group.gap) drawGap(chart, group, row, theme);
  });
});

/** What the axis holds: every value and repeat, and of an interval as much as leaves these readable. */
export function shownValues(groups) {
  const measured = groups.flatMap((group) => [group.value, ...group.dots]).filter((value) => value !== null);
  const furthest = Math.max(0, ...measured) * WHISKER_REACH;
  const ends = groups.flatMap((group) => group.interval ?? []);
  return [...measured, ...ends.map((end) => Math.min(end, furthest))];
}

/** Where the axis ends, a little beyond all that is shown, here and in the panels beside it. */
const axisEnd = ({ groups, most }) => (most ?? Math.max(0, ...shownValues(groups))) * 1.02;

/** Whether an interval goes on beyond an axis that ends at `max`. */
const isCut = (group, max) => group.value !== null && group.interval?.[1] > max;

/** What stands at the arrow of an interval that is cut: where it ends, or that so wide a one tells nothing. */
export function endWords(group, max) {
  if (!isCut(group, max)) return "";
  const end = group.interval[1];
  return end > TELLING_TIMES * group.value ? `to over ${TELLING_TIMES} × that` : `to ${formatNumber(end)}`;
}

/** Draws an arrow at the edge where an interval goes on beyond the axis, and its end in words at the arrow's head. */
const beyond = (groups, theme) => drawing("benchsiteBeyond", ({ ctx: context, width, chartArea: { right }, scales: { x, y } }) => {
  context.fillStyle = theme.ink;
  context.font = `11px ${theme.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  groups.forEach((group, row) => {
    if (!isCut(group, x.max)) return;
    const middle = y.getPixelForValue(row);
    context.fillText(endWords(group, x.max), width - 4, middle + END_PX);
    drawShape(context, [right + 1, middle], [right - 7, middle - 5], [right - 7, middle + 5]);
  });
});

/** Draws the intervals as whiskers, after the bars and beneath the dots. */
export const whiskers = (groups, theme) => drawing("benchsiteWhiskers", ({ ctx: context, chartArea, scales: { x, y } }, { index }) => {
  if (index !== 0) return;
  const { left, right, top, bottom } = chartArea;
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.25 });
  groups.forEach(({ value, interval }, row) => {
    if (value === null || !interval) return;
    const middle = y.getPixelForValue(row);
    const [low, high] = interval.map((end) => x.getPixelForValue(end));
    drawLine(context, [low, middle], [high, middle]);
    for (const end of [low, high]) drawLine(context, [end, middle - WHISKER_PX / 2], [end, middle + WHISKER_PX / 2]);
  });
}, "afterDatasetDraw");

/** Draws the median of several repeats as a tick across its bar. */
const medians = (groups, theme) => drawing("benchsiteMedians", ({ ctx: context, scales: { x, y } }) => {
  const half = (Math.abs(y.getPixelForValue(1) - y.getPixelForValue(0)) || ROW_PX) * 0.31;
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.25;
  context.setLineDash([2, 2]);
  groups.forEach((group, row) => {
    if (group.dots.length < 2 || group.statistic !== "geometric mean") return;
    const at = x.getPixelForValue(group.median);
    const middle = y.getPixelForValue(row);
    drawLine(context, [at, middle - half], [at, middle + half]);
  });
});

function valueScale(spec, theme) {
  const shown = [...shownValues(spec.groups), ...[spec.least, spec.most].filter((end) => end !== undefined)];
  // Of changes as far below as the least of them, with some room.
  const begin = spec.base === undefined ? { beginAtZero: true } : { min: Math.min(spec.base, ...shown) * 0.95 };
  const linear = { ...begin, max: axisEnd(spec) || undefined };
  return numberScale(theme, { ...spec.y, scale: spec.scale }, shown, linear);
}

function groupScale(spec, theme) {
  return rowScale(theme, spec.groups.map((group) => group.label), function (value) {
    return labelLines(spec.groups[value], this.chart.width);
  });
}

const titled = (words) => words.charAt(0).toUpperCase() + words.slice(1);

function tooltipCallbacks(spec) {
  const groupOf = (item) => spec.groups[item.raw.group ?? item.dataIndex];
  const unit = spec.y.unit;
  return {
    title: (items) => (items.length ? groupOf(items[0]).label : ""),
    label(item) {
      const group = groupOf(item);
      const repeats = `${group.dots.length} ${group.dots.length === 1 ? "repeat" : "repeats"}: ${group.dots.map(formatNumber).join(", ")}`;
      if (group.dots.length === 0) return `${group.claim ? `Published: ${valueText(group)}` : withUnit(group.value, unit)}${withOrigin(group)}`;
      const lines = [`${titled(group.statistic)} ${withUnit(group.value, unit)}`];
      if (group.interval) lines.push(`interval ${group.interval.map(formatNumber).join(" to ")} ${unit}`);
      if (group.statistic !== "median") lines.push(`Median ${withUnit(group.median, unit)}`);
      lines.push(`${repeats}${withOrigin(group)}`);
      return item.datasetIndex === 0 ? lines : [`This repeat ${withUnit(item.parsed.x, unit)}`, ...lines];
    },
  };
}

/** Chart.js configuration of a bars specification. */
export function barsConfig(spec, theme) {
  const { marks = [] } = spec;
  const rows = marks.map(() => 0);
  const numbers = spec.groups.map(valueText);
  const ends = spec.groups.map((group) => endWords(group, axisEnd(spec)));
  return {
    type: "bar",
    data: { labels: spec.groups.map((group) => group.label), datasets: [barDataset(spec, theme), dotDataset(spec.groups, theme)] },
    options: {
      ...baseOptions(theme), normalized: false, indexAxis: "y",
      layout: { padding: { top: marksHeight(marks, rows) + 4, right: numbers.some(Boolean) ? columnPx([...numbers, ...ends]) : 8 } },
      interaction: { mode: "nearest", axis: "xy", intersect: true },
      scales: { x: valueScale(spec, theme), y: groupScale(spec, theme) },
      plugins: { legend: { display: false }, tooltip: { ...tooltip(theme), callbacks: tooltipCallbacks(spec) }, zoom: {} },
    },
    plugins: [gaps(spec.groups, theme), whiskers(spec.groups, theme), medians(spec.groups, theme), beyond(spec.groups, theme), markPlugin(marks, rows, theme), numberColumn(numbers, theme)],
  };
}
