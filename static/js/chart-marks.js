// What is drawn upon a chart: lines at values that matter, and the hatched room of what is not known.
import { drawLine, drawing, seriesColour, toData, translucent } from "./chart-theme.js";

// Marks stand above the plot, in as many rows as it takes that no two labels run into each other.
const MARK_ROW_PX = 16;
const MARK_LETTER_PX = 7, MARK_GAP_PX = 16;
// What is left of a chart's width beside the axis of values and the room at both ends of the other.
const PLOT_SHARE = 0.75;
const LABEL_PX = 3, LABEL_ROW_PX = 19;

/** The row of each mark in a chart of `width` px, by what its x axis holds; where that is not known each has its own. */
export function markRows(marks, { span: whole, ticks, scale }, width) {
  const span = whole ?? (ticks && [ticks[0][0], ticks.at(-1)[0]]);
  const place = (x) => (scale === "log" ? Math.log(x) : x);
  const share = (x) => (place(x) - place(span[0])) / (place(span[1]) - place(span[0]) || 1);
  const ends = [];
  return marks.map((mark) => {
    if (mark.axis !== "x") return 0;
    const px = mark.label.length * MARK_LETTER_PX + MARK_GAP_PX;
    // A label does not leave the plot.
    const middle = span ? Math.max(px / 2, Math.min(width * PLOT_SHARE - px / 2, share(mark.value) * width * PLOT_SHARE)) : 0;
    const free = ends.findIndex((taken) => taken.every((other) => Math.abs(other.middle - middle) >= (other.px + px) / 2));
    const row = span && free >= 0 ? free : ends.length;
    (ends[row] ??= []).push({ middle, px });
    return row;
  });
}

/** Room in px that these rows of marks of a chart of lines need above its plot. */
export const marksHeight = (marks, rows) => Math.max(0, ...rows.map((row, index) => (marks[index].axis === "x" ? row + 1 : 0))) * MARK_ROW_PX;

/**
 * Where a mark stands on its axis of `min` to `max`: "in", "before", "after". The data set the axis, never a mark: of
 * one that lies beyond an arrow at that edge says so.
 */
export function markSide({ value }, { min, max }) {
  if (value < min) return "before";
  return value > max ? "after" : "in";
}

/** "RAM 25 GB", "RAM 25 GB →", "← buffer pool 128 MB"; of the upright axis "limit ↑". */
export function markWords({ axis, label }, side) {
  if (side === "in") return label;
  if (axis === "y") return `${label} ${side === "after" ? "↑" : "↓"}`;
  return side === "after" ? `${label} →` : `← ${label}`;
}

/** In px: where a mark's line stands (null beyond the axis), its words, and where they begin. */
function placed(chart, mark, row) {
  const { left, right, top, bottom } = chart.chartArea;
  const [scale, upright] = [chart.scales[mark.axis], mark.axis === "x"];
  const side = markSide(mark, scale);
  const words = markWords(mark, side);
  const width = chart.ctx.measureText(words).width;
  const at = { before: upright ? left : bottom, after: upright ? right : top, in: scale.getPixelForValue(mark.value) }[side];
  const y = upright ? top - 2 - row * MARK_ROW_PX : Math.max(top + 14, Math.min(bottom - 2, at - 2));
  const x = upright ? Math.max(left, Math.min(right - width, at - width / 2)) : right - width - 4;
  const line = upright ? [[at, y], [at, bottom]] : [[left, at], [right, at]];
  return { line: side === "in" ? line : null, words, width, x, y };
}

/** Chart.js plugin that draws `marks` [{axis, value, label}], each in its row, as dashed lines, or as arrows at the edge. */
export const markPlugin = (marks, rows, theme) => drawing("benchsiteMarks", (chart) => {
  const context = chart.ctx;
  Object.assign(context, { strokeStyle: theme.mark, lineWidth: 1.5, font: `11px ${theme.font}`, textBaseline: "bottom" });
  const shown = marks.map((mark, index) => placed(chart, mark, rows[index]));
  context.setLineDash([4, 3]);
  for (const { line } of shown) if (line) drawLine(context, ...line);
  for (const { words, width, x, y } of shown) {
    context.fillStyle = theme.panel;
    context.fillRect(x - 2, y - 13, width + 4, 13);
    context.fillStyle = theme.mark;
    context.fillText(words, x, y);
  }
});

/** Chart.js plugin that shades stretches of the x axis {from, to, label}; one that is `clear` has only its label, in the
 *  middle; a label stands at the top, or `below`.
 */
export const bandPlugin = (bands, theme) => drawing("benchsiteBands", ({ ctx: context, chartArea, scales: { x } }) => {
  const { left, right, top, bottom } = chartArea;
  Object.assign(context, { font: `11px ${theme.font}`, textBaseline: "middle" });
  for (const { from, to, label, clear, below } of bands) {
    const [begin, end] = [from, to].map((value) => Math.max(left, Math.min(right, x.getPixelForValue(value))));
    if (end <= begin) continue; // of another stretch than that which is zoomed into
    context.fillStyle = theme.band;
    if (!clear) context.fillRect(begin, top, end - begin, bottom - top);
    const width = context.measureText(label).width + 2 * LABEL_PX;
    const at = Math.min(clear ? (begin + end - width) / 2 : begin, right - width);
    const middle = below ? bottom - LABEL_ROW_PX / 2 : top + LABEL_ROW_PX / 2;
    context.fillStyle = translucent(theme.panel, 0.8);
    context.fillRect(at, middle - LABEL_ROW_PX / 2, width, LABEL_ROW_PX);
    context.fillStyle = theme.soft;
    context.fillText(label, at + LABEL_PX, middle);
  }
}, "beforeDatasetsDraw");

/** Datasets of lines that were computed of the series: thin, without points, not in the legend; `of` is their series. */
export function overlayDatasets({ overlays = [], series }, theme) {
  return overlays.map((line) => {
    const colour = seriesColour(theme, line.color);
    return {
      of: series.findIndex(({ color }) => color === line.color), role: "overlay", label: line.label, data: toData(line.points),
      borderColor: translucent(colour, 0.75), backgroundColor: colour, borderWidth: 1, borderDash: line.dash ? [6, 4] : [2, 3], pointRadius: 0, pointHitRadius: 0, order: 10,
    };
  });
}

/** The pattern of "not known": oblique lines in a rectangle. */
export function hatch(context, { left, top, width, height }, colour) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  for (let x = left - height; x < left + width; x += 7) drawLine(context, [x, top + height], [x + height, top]);
  context.restore();
}

/** `text` cut with an ellipsis to at most `width` px in the context's font. */
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

// Lost values of a line chart: under the axis, where no line can run, a hatched strip at their place, an open ring per
// value, and the reason in words.
const STRIP_PX = 18;
const TEXT_PX = 12;
const ROW_PX = STRIP_PX + TEXT_PX + 8;
const RING_PX = 3.5;

/** "SSD: 11 values not known, the picture is lost"; on a narrow chart without the reason, which the table gives. */
export function gapWords(gap, withReason = true) {
  const count = `${gap.label && `${gap.label}: `}${gap.xs.length} ${gap.xs.length === 1 ? "value" : "values"} not known`;
  return withReason ? `${count}, ${gap.reason}` : count;
}

/** Room in px that the gaps need under the chart. */
export const gapsHeight = (gaps) => gaps.length * ROW_PX;

/** Top edge in px of the strip of gap number `row` in a chart of this height, the last one lowest. */
export const stripTop = (height, gaps, row) => height - (gaps.length - row) * ROW_PX + TEXT_PX + 6;

function ring(context, x, y, colour) {
  context.beginPath();
  context.arc(x, y, RING_PX, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
}

/** The places `xs` of what is lost in stretches: one ends where the curve has a value, at a place of `valued`. */
export function lostStretches(xs, valued) {
  const stretches = [];
  for (const x of [...xs].sort((a, b) => a - b)) {
    const last = stretches.at(-1);
    if (last && !valued.some((value) => value > last.at(-1) && value < x)) last.push(x);
    else stretches.push([x]);
  }
  return stretches;
}

function drawGap(chart, gap, top, theme) {
  const { left, right } = chart.chartArea;
  const context = chart.ctx;
  const curves = chart.data.datasets.filter(({ role, label, color }) => !role && label === gap.label && color === gap.color);
  const valued = curves.flatMap(({ data }) => data.filter(({ y }) => y !== null).map(({ x }) => x));
  const inside = (x) => x >= left - 1 && x <= right + 1;
  const stretches = lostStretches(gap.xs, valued)
    .map((xs) => xs.map((x) => chart.scales.x.getPixelForValue(x)).filter(inside)).filter((xs) => xs.length);
  if (stretches.length === 0) return;
  for (const xs of stretches) {
    const from = Math.max(left, xs[0] - 8);
    hatch(context, { left: from, top, width: Math.min(right, xs.at(-1) + 8) - from, height: STRIP_PX }, theme.rule);
  }
  const centres = stretches.flat();
  const from = Math.max(left, Math.min(...centres) - 8);
  for (const x of centres) ring(context, x, top + STRIP_PX / 2, seriesColour(theme, gap.color));
  context.font = `${TEXT_PX}px ${theme.font}`;
  context.textBaseline = "bottom";
  const words = [gapWords(gap), gapWords(gap, false)].find((text) => context.measureText(text).width <= right - left) ?? fitText(context, gap.label, right - left);
  const start = Math.max(left, Math.min(from, right - context.measureText(words).width));
  context.fillStyle = theme.mark;
  context.fillText(words, start, top - 2);
}

/** Chart.js plugin that draws `gaps` [{label, color, xs, reason}] in the room that `gapsHeight` keeps free. */
export const gapPlugin = (gaps, theme) => drawing("benchsiteGaps", (chart) => {
  gaps.forEach((gap, row) => drawGap(chart, gap, stripTop(chart.height, gaps, row), theme));
});
