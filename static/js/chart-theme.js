// What charts share. Colours and fonts are read from the style sheets, so that light and dark are defined in one place.
import { axisTitle, formatNumber, logBounds, logTicks, shortened } from "./format.js";

export const SERIES_COLOURS = 8;
const POINT_STYLES = ["circle", "rectRot", "triangle", "rect", "star", "crossRot", "cross", "rectRounded"];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4], [1, 3], [10, 2, 2, 2, 2, 2]];

/** A custom property as a colour the canvas understands: light-dark() must be resolved by an element. */
function resolved(probe, name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** The palette of this moment: {series: [...8], ink, soft, grid, band, mark, panel, rule, font}. */
export function readTheme() {
  const probe = document.createElement("span");
  probe.className = "colour-probe";
  document.body.append(probe);
  const colour = (name) => resolved(probe, name);
  const theme = {
    series: Array.from({ length: SERIES_COLOURS }, (_, index) => colour(`--series-${index}`)),
    ink: colour("--ink"), soft: colour("--ink-soft"), grid: colour("--chart-grid"), band: colour("--chart-band"),
    mark: colour("--chart-mark"), panel: colour("--panel"), rule: colour("--rule-strong"),
    font: getComputedStyle(document.body).fontFamily,
  };
  probe.remove();
  return theme;
}

export const seriesColour = (theme, index) => theme.series[index % SERIES_COLOURS];
export const pointStyle = (index) => POINT_STYLES[index % POINT_STYLES.length];
export const dash = (index) => DASHES[index % DASHES.length];
/** Points [x, y] as Chart.js reads them. */
export const toData = (points) => points.map(([x, y]) => ({ x, y }));

/** The same colour with an opacity of 0 to 1. `colour` is what getComputedStyle returns. */
export function translucent(colour, opacity) {
  const match = colour.match(/^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)/);
  return match ? `rgba(${match[1]}, ${match[2]}, ${match[3]}, ${opacity})` : `color-mix(in srgb, ${colour} ${opacity * 100}%, transparent)`;
}

/** What all charts share: no animation (numbers are read while they change), fonts, size. */
export function baseOptions(theme) {
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
    color: theme.ink, font: { family: theme.font, size: 12 }, layout: { padding: { top: 4 } },
  };
}

/** A legend that works by click and by keyboard order; hidden where there is one series only. */
export function legend(theme, display) {
  return {
    display, position: "top", align: "start",
    labels: {
      color: theme.ink, usePointStyle: true, pointStyleWidth: KEY_PX, boxHeight: 7, font: { family: theme.font, size: 12 },
      generateLabels(chart) {
        const items = window.Chart.defaults.plugins.legend.labels.generateLabels(chart).filter((item) => !chart.data.datasets[item.datasetIndex].role);
        chart.ctx.font = `12px ${theme.font}`;
        const texts = shortened(items.map((item) => item.text), (text) => chart.ctx.measureText(text).width <= chart.width - 2 * KEY_PX);
        return items.map((item, index) => ({ ...item, text: texts[index], pointStyle: "line", strokeStyle: "transparent" }));
      },
    },
  };
}

export const KEY_PX = 28;

/** The context of a new canvas of this size on the page, with as many pixels as the screen has there. */
export function canvasContext(width, height) {
  const canvas = document.createElement("canvas");
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.ceil(width * ratio), Math.ceil(height * ratio)];
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** A Chart.js plugin that draws upon the datasets, or with another `hook` beneath them, and leaves the context as it was. */
export const drawing = (id, draw, hook = "afterDatasetsDraw") => ({
  id,
  [hook](chart, at) {
    chart.ctx.save();
    draw(chart, at);
    chart.ctx.restore();
  },
});

/** A line from point to point, [x, y] each. */
export function drawLine(context, ...points) {
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.stroke();
}

/** The surface between these points. */
export function drawShape(context, ...points) {
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.fill();
}

/** The key of a line: its colour, dash and width, and its point where the line shows points. */
export function drawKey(context, { borderColor, borderDash = [], borderWidth = 2, pointStyle: style, pointRadius }, x, y) {
  context.save();
  Object.assign(context, { strokeStyle: borderColor, fillStyle: borderColor, lineWidth: borderWidth });
  context.setLineDash(borderDash);
  drawLine(context, [x, y], [x + KEY_PX, y]);
  context.setLineDash([]);
  if (pointRadius) window.Chart.helpers.drawPoint(context, { pointStyle: style, radius: pointRadius + 0.5, borderWidth: 1, rotation: 0 }, x + KEY_PX / 2, y);
  context.restore();
}

/** Chart.js plugin: keys of a legend that look like their lines, which the library's own do not. */
export const keyPlugin = {
  id: "benchsiteKeys",
  afterDraw(chart) {
    if (!chart.legend?.options.display) return;
    chart.legend.legendItems.forEach((item, index) => {
      const box = chart.legend.legendHitBoxes[index];
      const line = chart.data.datasets[item.datasetIndex];
      if (!box || !line) return;
      chart.ctx.globalAlpha = item.hidden ? 0.35 : 1;
      drawKey(chart.ctx, line, box.left, box.top + box.height / 2);
      chart.ctx.globalAlpha = 1;
    });
  },
};

/** The same in a legend of several panels: `keys` are its marks, `charts` have the lines. */
export function drawKeys(keys, charts) {
  for (const key of keys) {
    const line = charts.flatMap((chart) => chart.data.datasets).find(
      ({ role, color, dashed }) => !role && color === Number(key.dataset.color) && dashed === key.hasAttribute("data-dash"),
    );
    if (!line) continue;
    const context = canvasContext(KEY_PX, 12);
    drawKey(context, line, 0, 6);
    key.replaceChildren(context.canvas);
  }
}

export function tooltip(theme) {
  return {
    backgroundColor: theme.ink, titleColor: theme.panel, bodyColor: theme.panel, footerColor: theme.panel,
    cornerRadius: 3, padding: 8, displayColors: false, titleFont: { family: theme.font }, bodyFont: { family: theme.font },
  };
}

const LETTER_PX = 6.6;

const TITLE_SHARE = { x: 0.5, y: 0.7 };

/** In two lines where an axis has little room beside labels, numbers and legend: Chart.js would squeeze or cut the letters. */
export const titleLines = (title, axis, chartPx) =>
  title.length * LETTER_PX > chartPx * TITLE_SHARE[axis] ? title.split(", ") : [title];

function scaleBase(theme, title) {
  return {
    grid: { color: theme.grid, tickColor: theme.grid }, border: { color: theme.rule },
    ticks: { color: theme.soft, font: { family: theme.font, size: 12 }, maxRotation: 0, autoSkipPadding: 12 },
    title: { display: Boolean(title), text: ({ chart, scale }) => titleLines(title, scale.axis, scale.axis === "x" ? chart.width : chart.height), color: theme.soft, font: { family: theme.font, size: 12 } },
  };
}

/** A scale of numbers; `axis.words` say a tick, `linear` are the options of one that is not logarithmic. */
export function numberScale(theme, axis, values, linear) {
  const base = scaleBase(theme, axis.untitled ? "" : axisTitle(axis));
  const ticks = { ...base.ticks, callback: axis.words ?? ((value) => formatNumber(value)) };
  // A tick stands at a round number, not at the end of the axis.
  if (axis.scale !== "log") return { ...base, type: "linear", ...linear, ticks: { ...ticks, includeBounds: false } };
  return {
    ...base, type: "logarithmic", ...logBounds(values), ticks,
    afterBuildTicks: (scale) => { scale.ticks = logTicks(scale.min, scale.max).map((value) => ({ value })); },
  };
}

/** A scale of named rows; `callback` gives the lines of a row's label. */
export function rowScale(theme, labels, callback) {
  const base = scaleBase(theme, "");
  return {
    ...base, type: "category", labels, offset: true, grid: { display: false },
    // A label is no higher than its row: Chart.js would leave half of one free above the first and below the last.
    afterFit: (fitted) => { fitted.paddingTop = fitted.paddingBottom = 0; },
    ticks: { ...base.ticks, color: theme.ink, autoSkip: false, callback },
  };
}

/** Room in px for the column of numbers at the right of the rows. */
export const columnPx = (texts) => Math.max(0, ...texts.map((text) => text.length)) * 7.5 + 14;

/** Chart.js plugin that writes a text at the right of each row; an empty one is left out. */
export const numberColumn = (texts, theme) => drawing("benchsiteNumbers", (chart) => {
  const context = chart.ctx;
  context.font = `600 12px ${theme.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = theme.ink;
  texts.forEach((text, row) => context.fillText(text, chart.width - 4, chart.scales.y.getPixelForValue(row)));
});
