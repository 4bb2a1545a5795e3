// Metric against metric: a dot for each group with its intervals, the ones that no other beats ringed and joined.
import { baseOptions, numberScale, pointStyle, seriesColour, tooltip, translucent } from "./chart-theme.js";
import { formatNumber, withUnit } from "./format.js";

const MOST_LABELS = 12;
const HEIGHT_PX = 420;
// How far, in lengths of the largest value, an interval may stretch an axis.
const REACH = 1.5;

export const tradeOffHeight = () => HEIGHT_PX;

/** The front from the best of one metric to the best of the other: its points in the order of x. */
export const frontPoints = (groups) => groups.filter((group) => group.front).map(({ x, y }) => ({ x, y })).sort((a, b) => a.x - b.x || a.y - b.y);

const whiskers = (groups, theme) => ({
  id: "benchsiteWhiskers",
  beforeDatasetsDraw({ ctx: context, chartArea: { left, right, top, bottom }, scales: { x, y } }) {
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    context.lineWidth = 1.25;
    for (const group of groups) {
      context.strokeStyle = translucent(seriesColour(theme, group.color), 0.7);
      context.beginPath();
      const [atX, atY] = [x.getPixelForValue(group.x), y.getPixelForValue(group.y)];
      if (group.x_interval) {
        context.moveTo(x.getPixelForValue(group.x_interval[0]), atY);
        context.lineTo(x.getPixelForValue(group.x_interval[1]), atY);
      }
      if (group.y_interval) {
        context.moveTo(atX, y.getPixelForValue(group.y_interval[0]));
        context.lineTo(atX, y.getPixelForValue(group.y_interval[1]));
      }
      context.stroke();
    }
    context.restore();
  },
});

/** Names beside the dots, where there are few; a name without room, or upon another one, is left to tooltip and table. */
const names = (groups, theme) => ({
  id: "benchsiteNames",
  afterDatasetsDraw({ ctx: context, chartArea: { left, right }, scales: { x, y } }) {
    const taken = [];
    context.save();
    context.font = `11px ${theme.font}`;
    context.fillStyle = theme.ink;
    context.textBaseline = "bottom";
    for (const group of groups) {
      const width = context.measureText(group.label).width;
      const [atX, atY] = [x.getPixelForValue(group.x), y.getPixelForValue(group.y)];
      const from = atX + 8 + width <= right ? atX + 8 : atX - 8 - width;
      if (from < left) continue;
      const box = [from, atY - 18, from + width, atY - 4];
      if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      context.fillText(group.label, from, atY - 4);
    }
    context.restore();
  },
});

function tooltipCallbacks(spec, groups) {
  const interval = (ends, unit) => (ends ? ` (${formatNumber(ends[0])} to ${formatNumber(ends[1])} ${unit})` : "");
  return {
    title: (items) => (items.length ? groups[items[0].dataIndex].label : ""),
    label(item) {
      const group = groups[item.dataIndex];
      return [
        `${spec.y.label} ${withUnit(group.y, spec.y.unit)}${interval(group.y_interval, spec.y.unit)}`,
        `${spec.x.label} ${withUnit(group.x, spec.x.unit)}${interval(group.x_interval, spec.x.unit)}`,
        `${group.n} ${group.n === 1 ? "repeat" : "repeats"}${group.front ? "; no other is better in both" : ""}`,
      ];
    },
  };
}

/** Chart.js configuration of a trade-off specification. */
export function tradeOffConfig(spec, theme) {
  // Chart.js reads the ends of the x axis off the first and the last of data that it does not parse.
  const groups = [...spec.groups].sort((a, b) => a.x - b.x);
  const colours = groups.map((group) => seriesColour(theme, group.color));
  const dots = {
    label: "Groups", data: groups.map(({ x, y }) => ({ x, y })), showLine: false, order: 1, pointStyle: groups.map((group) => pointStyle(group.color)),
    pointRadius: groups.map((group) => (group.front ? 7 : 5)), pointHoverRadius: 8, pointBackgroundColor: colours,
    pointBorderColor: groups.map((group) => (group.front ? theme.ink : theme.panel)), pointBorderWidth: groups.map((group) => (group.front ? 2 : 1)),
  };
  const front = {
    label: "No other is better in both", data: spec.joined ? frontPoints(groups) : [], borderColor: theme.soft, borderWidth: 1.25, borderDash: [4, 4], pointRadius: 0, pointHitRadius: 0, order: 2,
  };
  // As much of the intervals as leaves the dots readable.
  const values = (axis) => {
    const centres = groups.map((group) => group[axis]);
    const most = Math.max(...centres) * REACH;
    return [...centres, ...groups.flatMap((group) => group[`${axis}_interval`] ?? []).filter((end) => end > 0).map((end) => Math.min(end, most))];
  };
  const scale = (axis) => numberScale(theme, spec[axis], values(axis), { beginAtZero: Boolean(spec[axis].zero), suggestedMax: Math.max(...values(axis)), grace: "8%" });
  return {
    type: "line", data: { datasets: [dots, front] },
    options: {
      ...baseOptions(theme), normalized: false, interaction: { mode: "nearest", axis: "xy", intersect: true }, scales: { x: scale("x"), y: scale("y") },
      plugins: { legend: { display: false }, zoom: {}, tooltip: { ...tooltip(theme), callbacks: tooltipCallbacks(spec, groups), filter: (item) => item.datasetIndex === 0 } },
    },
    plugins: [whiskers(groups, theme), ...(groups.length <= MOST_LABELS ? [names(groups, theme)] : [])],
  };
}
