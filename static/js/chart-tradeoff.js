// Metric against metric: a dot for each group with its intervals, the ones that no other beats ringed and joined.
import { baseOptions, drawLine, drawing, legend, numberScale, pointStyle, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { formatNumber, withUnit } from "./format.js";

// Beyond so many names a chart is letters; short ones may be more.
const MOST_NAMES = 12, MOST_SHORT_NAMES = { wide: 64, narrow: 24 }, SHORT = 12;
const HEIGHT_PX = 420, LEAST_PX = 260, KEY_HEIGHT_PX = 20;
// Below it names would cover the dots: the legend has them, and a number stands at each dot.
const NARROW_PX = 520;
// How far, in lengths of the largest value, an interval may stretch an axis.
const REACH = 1.5;

/** Of each colour the name of its groups. */
const seriesOf = (spec) => [...new Map(spec.groups.map(({ color, series }) => [color, series]))].map(([color, label]) => ({ color, label }));
const isNumbered = (spec, width) => width < NARROW_PX && seriesOf(spec).length === spec.groups.length;
const hasKeys = (spec, width) =>
  spec.groups.length > 1 && seriesOf(spec).every(({ label }) => label) && (width < NARROW_PX || seriesOf(spec).length < spec.groups.length);

/** The same plot with a legend as without; `isFramed`: at least. */
export const tradeOffHeight = (spec, width, isFramed = false) => (isFramed ? LEAST_PX : HEIGHT_PX) + (hasKeys(spec, width) ? KEY_HEIGHT_PX * Math.ceil(seriesOf(spec).length / Math.max(1, Math.floor(width / 220))) : 0);

/** The front from the best of one metric to the best of the other: its points in the order of x. */
export const frontPoints = (groups) => groups.filter((group) => group.front).map(({ x, y }) => ({ x, y })).sort((a, b) => a.x - b.x || a.y - b.y);

const whiskers = (groups, theme) => drawing("benchsiteWhiskers", (chart) => {
  const { ctx: context, chartArea: { left, right, top, bottom }, scales: { x, y } } = chart;
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  context.lineWidth = 1.25;
  for (const group of groups.filter(({ dataset }) => chart.isDatasetVisible(dataset))) {
    context.strokeStyle = translucent(seriesColour(theme, group.color), 0.7);
    const [atX, atY] = [x.getPixelForValue(group.x), y.getPixelForValue(group.y)];
    if (group.x_interval) drawLine(context, ...group.x_interval.map((end) => [x.getPixelForValue(end), atY]));
    if (group.y_interval) drawLine(context, ...group.y_interval.map((end) => [atX, y.getPixelForValue(end)]));
  }
}, "beforeDatasetsDraw");

const GAP_PX = 5;
// Directions in which a name may stand, the best first, and how far away: beyond the first a line leads to its dot.
const TOWARDS = [[1, -1], [1, 1], [-1, -1], [-1, 1], [1, 0], [-1, 0], [0, -1], [0, 1]];
const AWAY_PX = [0, 14, 28, 44];

const overlap = (one, other) => one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];

/** Where names of these `widths` stand, [left, top, right, bottom] each: upon no dot and no other name, within `area`.
 *  null where there is no room. `centres` are [x, y] of the dots, `height` is that of a line of text. */
export function placeNames(centres, widths, height, area, isLed) {
  const taken = centres.map(([x, y]) => [x - GAP_PX, y - GAP_PX, x + GAP_PX, y + GAP_PX]);
  return centres.map(([x, y], index) => {
    for (const away of isLed ? AWAY_PX : [0]) {
      for (const [toX, toY] of TOWARDS) {
        const reach = GAP_PX + 3 + away;
        const left = toX > 0 ? x + reach : toX < 0 ? x - reach - widths[index] : x - widths[index] / 2;
        const top = toY > 0 ? y + 2 + away : toY < 0 ? y - 2 - away - height : y - height / 2;
        const box = [left, toX ? top : top + toY * GAP_PX, left + widths[index], (toX ? top : top + toY * GAP_PX) + height];
        const isInside = box[0] >= area.left && box[2] <= area.right && box[1] >= area.top && box[3] <= area.bottom;
        if (!isInside || taken.some((other, at) => overlap(box, other) && !(at === index && away))) continue;
        taken.push(box);
        return box;
      }
    }
    return null;
  });
}

/** What stands at the dots: their names; where there is little room a number, which the legend tells. */
const names = (groups, theme, isLed) => drawing("benchsiteNames", (chart) => {
  const { ctx: context, chartArea, scales: { x, y } } = chart;
  const shown = groups.filter((group) => group.at && chart.isDatasetVisible(group.dataset));
  context.font = `11px ${theme.font}`;
  context.textBaseline = "middle";
  const centres = shown.map((group) => [x.getPixelForValue(group.x), y.getPixelForValue(group.y)]);
  const boxes = placeNames(centres, shown.map((group) => context.measureText(group.at).width), 13, chartArea, isLed);
  boxes.forEach((box, index) => {
    if (!box) return;
    const [atX, atY] = centres[index];
    const [endX, endY] = [Math.min(Math.max(atX, box[0]), box[2]), Math.min(Math.max(atY, box[1]), box[3])];
    if (Math.hypot(endX - atX, endY - atY) > 2 * GAP_PX + 3) {
      context.strokeStyle = theme.rule;
      context.lineWidth = 1;
      drawLine(context, [atX, atY], [endX, endY]);
    }
    // A name stands upon lines, not among them.
    context.fillStyle = translucent(theme.panel, 0.75);
    context.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
    context.fillStyle = theme.ink;
    context.fillText(shown[index].at, box[0], (box[1] + box[3]) / 2);
  });
});

function tooltipCallbacks(spec) {
  const interval = (ends, unit) => (ends ? ` (${formatNumber(ends[0])} to ${formatNumber(ends[1])} ${unit})` : "");
  return {
    title: (items) => (items.length ? items[0].raw.label : ""),
    label(item) {
      const group = item.raw;
      return [
        `${spec.y.label} ${withUnit(group.y, spec.y.unit)}${interval(group.y_interval, spec.y.unit)}`,
        `${spec.x.label} ${withUnit(group.x, spec.x.unit)}${interval(group.x_interval, spec.x.unit)}`,
        `${group.n} ${group.n === 1 ? "repeat" : "repeats"}${group.front ? "; no other is better in both" : ""}`,
      ];
    },
  };
}

/** Chart.js configuration of a trade-off specification, drawn `width` px wide. */
export function tradeOffConfig(spec, theme, width) {
  const series = seriesOf(spec);
  const place = (group) => series.findIndex(({ color }) => color === group.color);
  const numbered = isNumbered(spec, width);
  const at = (group) => (numbered ? String(place(group) + 1) : group.name);
  // Chart.js reads the ends of the x axis off the first and the last of data that it does not parse.
  const groups = spec.groups.map((group) => ({ ...group, at: at(group), dataset: place(group) })).sort((a, b) => a.x - b.x);
  const isShort = groups.every((group) => group.at.length <= SHORT);
  const dots = series.map(({ color, label }, index) => {
    const own = groups.filter((group) => group.dataset === index);
    const colour = seriesColour(theme, color);
    return {
      label, data: own, showLine: false, order: 1, pointStyle: pointStyle(color), pointBackgroundColor: translucent(colour, 0.7),
      pointRadius: own.map((group) => (group.front ? 7 : 5)), pointHoverRadius: 8,
      pointBorderColor: own.map((group) => (group.front ? theme.ink : colour)), pointBorderWidth: own.map((group) => (group.front ? 2 : 1)),
    };
  });
  const front = {
    label: "No other is better in both", role: "front", data: spec.joined ? frontPoints(groups) : [], borderColor: theme.soft, borderWidth: 1.25, borderDash: [4, 4], pointRadius: 0, pointHitRadius: 0, order: 2,
  };
  // As much of the intervals as leaves the dots readable.
  const values = (axis) => {
    const centres = groups.map((group) => group[axis]);
    const most = Math.max(...centres) * REACH;
    return [...centres, ...groups.flatMap((group) => group[`${axis}_interval`] ?? []).filter((end) => end > 0).map((end) => Math.min(end, most))];
  };
  const scale = (axis) => numberScale(theme, spec[axis], values(axis), { beginAtZero: Boolean(spec[axis].zero), suggestedMax: Math.max(...values(axis)), grace: "8%" });
  const { labels, ...legendOptions } = legend(theme, hasKeys(spec, width));
  const generateLabels = (chart) =>
    labels.generateLabels(chart).map((label) => {
      const { pointBackgroundColor, pointStyle: shape } = chart.data.datasets[label.datasetIndex];
      const words = numbered ? `${label.datasetIndex + 1} ${label.text}` : label.text;
      return { ...label, text: words, pointStyle: shape, fillStyle: pointBackgroundColor, strokeStyle: pointBackgroundColor };
    });
  return {
    type: "line", data: { datasets: [...dots, front] },
    options: {
      ...baseOptions(theme), normalized: false, interaction: { mode: "nearest", axis: "xy", intersect: true }, scales: { x: scale("x"), y: scale("y") },
      plugins: {
        legend: { ...legendOptions, position: "bottom", labels: { ...labels, pointStyleWidth: 10, generateLabels } }, zoom: {},
        tooltip: { ...tooltip(theme), callbacks: tooltipCallbacks(spec), filter: (item) => item.datasetIndex < dots.length },
      },
    },
    plugins: [whiskers(groups, theme), ...(groups.length <= (isShort ? MOST_SHORT_NAMES[width < NARROW_PX ? "narrow" : "wide"] : MOST_NAMES) ? [names(groups, theme, !isShort || numbered)] : [])],
  };
}
