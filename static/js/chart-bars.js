// One row per group: a bar to the median, every repeat as a dot, the interval as a whisker, a hatched place for a gap.
import { baseOptions, scaleBase, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { markLine } from "./chart-marks.js";
import { fitText, hatch } from "./hatch.js";
import { axisTitle, formatNumber, logBounds, logTicks, spread, withOrigin, withUnit, wrapLabel } from "./format.js";

const ROW_PX = 46;
const LINE_PX = 15;
const FRAME_PX = 60;
const DOT_SPREAD = 0.36;
const VALUE_FONT_PX = 12;
// Room above the bars for the label of a mark.
const MARK_PX = 18;

const labelWidth = (chartWidth) => (chartWidth < 520 ? 16 : 34);

/** The lines of a group's label. */
export function labelLines(group, chartWidth) {
  const lines = wrapLabel(group.label, labelWidth(chartWidth));
  return group.ranked ? lines : [...lines, "(not ranked)"];
}

/** Height in px that the figure needs for its groups and their labels. */
export function barsHeight(spec, chartWidth = 1000) {
  const most = Math.max(1, ...spec.groups.map((group) => labelLines(group, chartWidth).length));
  return FRAME_PX + Math.max(1, spec.groups.length) * Math.max(ROW_PX, most * LINE_PX + 8);
}

/** [{x, y, group}] of all repeats; y is the row with an offset that keeps equal dots apart. */
export function dotData(groups) {
  return groups.flatMap((group, row) => {
    const offsets = spread(group.dots.length);
    return group.dots.map((x, index) => ({ x, y: row + offsets[index] * DOT_SPREAD, group: row }));
  });
}

/** [{x, y, xMin, xMax}] of the medians; x is null for a gap. */
export function barData(groups) {
  return groups.map((group, row) => {
    const interval = group.interval ? { xMin: group.interval[0], xMax: group.interval[1] } : {};
    return { x: group.value, y: row, ...interval };
  });
}

function barDataset(groups, theme) {
  const colours = groups.map((group) => seriesColour(theme, group.color));
  return {
    type: "barWithErrorBars", label: "Median", data: barData(groups), order: 2, barPercentage: 0.62, categoryPercentage: 1,
    backgroundColor: groups.map((group, row) => (group.claim ? hatched(colours[row]) : translucent(colours[row], group.ranked ? 0.32 : 0.12))),
    borderColor: colours, borderWidth: { top: 0, right: 3, bottom: 0, left: 0 }, borderSkipped: false,
    errorBarColor: theme.ink, errorBarWhiskerColor: theme.ink, errorBarLineWidth: 1.25, errorBarWhiskerLineWidth: 1.25,
    errorBarWhiskerSize: 10, minBarLength: 2,
  };
}

/** Fill of a bar that no measured value stands behind: a published "about 5 times". */
function hatched(colour) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const context = tile.getContext("2d");
  context.strokeStyle = translucent(colour, 0.6);
  context.lineWidth = 1.5;
  context.beginPath();
  for (const shift of [-8, 0, 8]) {
    context.moveTo(shift, 8);
    context.lineTo(shift + 8, 0);
  }
  context.stroke();
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

function rowBox(chart, row) {
  const middle = chart.scales.y.getPixelForValue(row);
  const height = Math.abs(chart.scales.y.getPixelForValue(1) - chart.scales.y.getPixelForValue(0)) || ROW_PX;
  return { middle, top: middle - height * 0.31, height: height * 0.62 };
}

function drawGap(chart, group, row, theme) {
  const { left, right } = chart.chartArea;
  const { middle, top, height } = rowBox(chart, row);
  const context = chart.ctx;
  hatch(context, { left: left + 1, top, width: right - left - 1, height }, theme.grid);
  context.save();
  context.font = `${VALUE_FONT_PX}px ${theme.font}`;
  context.textBaseline = "middle";
  const text = fitText(context, `not known: ${group.gap}`, right - left - 24);
  context.fillStyle = theme.panel;
  context.fillRect(left + 8, middle - 9, context.measureText(text).width + 8, 18);
  context.fillStyle = theme.mark;
  context.fillText(text, left + 12, middle);
  context.restore();
}

const valueText = (group) => group.text ?? formatNumber(group.value);

function drawValue(chart, group, row, theme) {
  const context = chart.ctx;
  context.save();
  context.font = `600 ${VALUE_FONT_PX}px ${theme.font}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = theme.ink;
  context.fillText(valueText(group), chart.width - 4, rowBox(chart, row).middle);
  context.restore();
}

/** Draws what Chart.js has no element for: gaps, and the medians as a column of numbers at the right. */
const extras = (spec, theme) => ({
  id: "benchsiteBars",
  afterDatasetsDraw(chart) {
    spec.groups.forEach((group, row) => {
      if (group.value === null && group.gap) drawGap(chart, group, row, theme);
      else if (group.value !== null) drawValue(chart, group, row, theme);
    });
  },
});

function valueScale(spec, theme) {
  const base = scaleBase(theme, axisTitle(spec.y));
  const ticks = { ...base.ticks, callback: (value) => formatNumber(value) };
  const values = spec.groups.flatMap((group) => [group.value, ...group.dots, ...(group.interval ?? [])]);
  const most = Math.max(0, ...values.filter((value) => value !== null));
  if (spec.scale !== "log") return { ...base, type: "linear", beginAtZero: true, suggestedMax: most * 1.02, ticks };
  return {
    ...base, type: "logarithmic", ...logBounds(values.filter((value) => value !== null)), ticks,
    afterBuildTicks: (scale) => { scale.ticks = logTicks(scale.min, scale.max).map((value) => ({ value })); },
  };
}

function groupScale(spec, theme) {
  const base = scaleBase(theme, "");
  const callback = function (value) {
    return labelLines(spec.groups[value], this.chart.width);
  };
  return {
    ...base, type: "category", labels: spec.groups.map((group) => group.label), offset: true,
    grid: { display: false }, ticks: { ...base.ticks, color: theme.ink, autoSkip: false, callback },
  };
}

function tooltipCallbacks(spec) {
  const groupOf = (item) => spec.groups[item.raw.group ?? item.dataIndex];
  const unit = spec.y.unit;
  return {
    title: (items) => (items.length ? groupOf(items[0]).label : ""),
    label(item) {
      const group = groupOf(item);
      const repeats = `${group.dots.length} ${group.dots.length === 1 ? "repeat" : "repeats"}: ${group.dots.map(formatNumber).join(", ")}`;
      if (group.dots.length === 0) return `${group.claim ? `Published: ${valueText(group)}` : withUnit(group.value, unit)}${withOrigin(group)}`;
      const lines = [`Median ${withUnit(group.value, unit)}`, `${repeats}${withOrigin(group)}`];
      if (group.interval) lines.push(`95 % interval ${group.interval.map(formatNumber).join(" to ")} ${unit}`);
      return item.datasetIndex === 0 ? lines : [`This repeat ${withUnit(item.parsed.x, unit)}`, ...lines];
    },
  };
}

function valueColumnPx(groups) {
  const longest = Math.max(0, ...groups.map((group) => (group.value === null ? 0 : valueText(group).length)));
  return longest ? longest * 7.5 + 14 : 8;
}

/** Chart.js configuration of a bars specification. */
export function barsConfig(spec, theme) {
  const base = baseOptions(theme);
  return {
    type: "barWithErrorBars",
    data: { labels: spec.groups.map((group) => group.label), datasets: [barDataset(spec.groups, theme), dotDataset(spec.groups, theme)] },
    options: {
      ...base, normalized: false, indexAxis: "y",
      layout: { padding: { top: spec.marks?.length ? MARK_PX + 4 : 4, right: valueColumnPx(spec.groups) } },
      interaction: { mode: "nearest", axis: "xy", intersect: true },
      scales: { x: valueScale(spec, theme), y: groupScale(spec, theme) },
      plugins: { legend: { display: false }, tooltip: { ...tooltip(theme), callbacks: tooltipCallbacks(spec) }, zoom: {},
        annotation: { clip: false, annotations: (spec.marks ?? []).map((mark) => markLine(mark, theme, MARK_PX)) },
      },
    },
    plugins: [extras(spec, theme)],
  };
}
