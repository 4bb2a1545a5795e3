// Charts on one axis of time: ticks in hours and minutes, a shared crosshair and zoom, and marks of what happened when.
import { drawLine, drawShape, drawing, seriesColour } from "./chart-theme.js";
import { formatNumber, withUnit } from "./format.js";

const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
const MOST_TICKS = 9;
const FROM_S = 1200;
// An event is told by the tooltip of what lies so near to it.
const NEAR_PX = 6;
const GLYPH_PX = 5;
// Smaller charts show flags only; the tooltip has the words.
const WORDS_FROM_PX = 130;

const two = (number) => String(number).padStart(2, "0");

/** 3725 is "1:02:05"; whole minutes of an hour "1:02". */
export function clockWords(seconds) {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return `${hours}:${two(minutes)}${rest ? `:${two(rest)}` : ""}`;
}

/** Values at which an axis of time from `min` to `max` seconds has a tick: round minutes or hours. */
export function clockTicks(min, max) {
  const step = STEPS_S.find((each) => (max - min) / each <= MOST_TICKS) ?? Math.ceil((max - min) / MOST_TICKS / 86400) * 86400;
  const ticks = [];
  for (let at = Math.ceil(min / step) * step; at <= max; at += step) ticks.push(at);
  return ticks;
}

/** Whether the axis is one of time that is too long for seconds. */
export const isLong = (axis, xs) => axis.unit === "s" && axis.label === "Time" && Math.max(...(axis.span ?? []), xs.at(-1) ?? 0) >= FROM_S;

/** Index of the point whose x is nearest; points rise in x. -1 of none. */
export function nearestIndex(points, x) {
  let [low, high] = [0, points.length - 1];
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].x < x) low = middle;
    else high = middle;
  }
  return x - points[low].x <= points[high].x - x ? low : high;
}

/** Words of the events within `near` of x, each once. */
export const eventWords = (events, x, near) => [...new Set(events.filter((event) => Math.abs(event.x - x) <= near).map((event) => event.words))];

/** What the tooltip says beneath the values: the events of that time. */
export function eventsAt(spec, chart, x) {
  if (!spec.events?.length) return [];
  const { min, max, width } = chart.scales.x;
  return eventWords(spec.events, x, Math.max(0.75, ((max - min) / width) * NEAR_PX));
}

/** A note's dashed line with a flag, and its words where there is room for them. */
function flag(chart, x, words) {
  const { right, top, bottom } = chart.chartArea;
  const context = chart.ctx;
  context.setLineDash([3, 3]);
  drawLine(context, [x, top], [x, bottom]);
  context.setLineDash([]);
  context.fillRect(x, top, 9, 6);
  if (bottom - top < WORDS_FROM_PX) return;
  const width = context.measureText(words).width;
  context.fillText(words, x + 13 + width <= right ? x + 13 : Math.max(chart.chartArea.left, x - 4 - width), top + 1);
}

/** Checkpoints stand on the axis, stalls hang from the top, notes are flags. */
function drawEvent(chart, event, theme) {
  const { left, right, top, bottom } = chart.chartArea;
  const x = chart.scales.x.getPixelForValue(event.x);
  if (x < left || x > right) return;
  const context = chart.ctx;
  const colour = event.kind === "note" || event.color === undefined ? theme.mark : seriesColour(theme, event.color);
  Object.assign(context, { fillStyle: colour, strokeStyle: colour, lineWidth: 1.5, font: `11px ${theme.font}`, textBaseline: "top" });
  const [edge, tip] = event.kind === "stall" ? [top, top + GLYPH_PX * 1.6] : [bottom, bottom - GLYPH_PX * 1.6];
  if (event.kind === "note") flag(chart, x, event.words);
  else drawShape(context, [x - GLYPH_PX, edge], [x + GLYPH_PX, edge], [x, tip]);
}

/** Chart.js plugin: what happened, and when. */
export const timePlugin = (spec, theme) => drawing("benchsiteTime", (chart) => {
  for (const event of spec.events ?? []) drawEvent(chart, event, theme);
});

const MOST_VALUES = 4;

/** What the lines of a chart say at x: each value, of many lines the lowest and the highest. */
export function valuesAt(lines, x, unit) {
  const known = lines.flatMap(({ label, data }) => {
    const point = data[nearestIndex(data, x)];
    return point && point.y !== null ? [{ label, y: point.y }] : [];
  });
  if (known.length <= MOST_VALUES) return known.map(({ label, y }) => `${label}: ${withUnit(y, unit)}`).join(" · ");
  const values = known.map(({ y }) => y);
  return `${formatNumber(Math.min(...values))} to ${withUnit(Math.max(...values), unit)} of ${known.length}`;
}

/** The line over a chart, an element of its own: to move it nothing has to be drawn again. */
function crosshairOf(canvas) {
  const known = canvas.parentElement.querySelector(".crosshair");
  if (known) return known;
  const line = document.createElement("div");
  line.className = "crosshair";
  line.append(document.createElement("span"));
  canvas.after(line);
  return line;
}

/** Crosshair and, beside it, values of a chart at x; null takes them away. */
function pointAt({ spec, chart }, x, words) {
  const line = crosshairOf(chart.canvas);
  line.hidden = x === null;
  if (x === null) return;
  const { left, right, top, bottom } = chart.chartArea;
  const px = chart.scales.x.getPixelForValue(x);
  Object.assign(line.style, { left: `${px}px`, top: `${top}px`, height: `${bottom - top}px` });
  line.toggleAttribute("data-left", px > (left + right) / 2);
  const shown = chart.data.datasets.filter(({ role }, index) => !role && chart.isDatasetVisible(index));
  line.firstChild.textContent = words ? [valuesAt(shown, x, spec.y.unit), ...eventsAt(spec, chart, x)].join(" · ") : "";
}

/** All of `peers()`, {spec, chart}, show the time that is under the pointer in one of them. Once per canvas. */
export function shareCrosshair(canvas, peers) {
  if (canvas.dataset.shares) return;
  canvas.dataset.shares = "yes";
  let asked = null;
  const show = (event) => {
    const { scales, chartArea } = canvas.benchsiteChart;
    const px = event.clientX - canvas.getBoundingClientRect().left;
    const x = px >= chartArea.left && px <= chartArea.right ? scales.x.getValueForPixel(px) : null;
    for (const peer of peers()) pointAt(peer, x, peer.chart.canvas !== canvas);
  };
  canvas.addEventListener("pointermove", (event) => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => show(event));
  });
  canvas.addEventListener("pointerleave", () => {
    cancelAnimationFrame(asked);
    for (const peer of peers()) pointAt(peer, null);
  });
}

/** A click on a chart of a run's page takes its second into the form for a note. */
export function takeSecond(canvas, input) {
  canvas.addEventListener("click", (event) => {
    const { scales, chartArea } = canvas.benchsiteChart;
    const box = canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    if (px < chartArea.left || px > chartArea.right || py < chartArea.top || py > chartArea.bottom) return;
    input.value = String(Math.round(scales.x.getValueForPixel(px)));
  });
}

/** The others of `charts` show the same stretch as this one. */
export function shareZoom(chart, charts) {
  const { min, max } = chart.scales.x;
  for (const other of charts) {
    if (other === chart) continue;
    other.benchsiteFollows = true;
    other.zoomScale("x", { min, max }, "none");
    other.benchsiteFollows = false;
  }
}
