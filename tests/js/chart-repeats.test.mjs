import assert from "node:assert/strict";
import test from "node:test";
import { alone, repeatDatasets, repeatWords } from "../../static/js/chart-repeats.js";
import { frontPoints, placeNames, tradeOffConfig } from "../../static/js/chart-tradeoff.js";
import { titleLines } from "../../static/js/chart-theme.js";
import { axisTitle, fill, roundEnd } from "../../static/js/format.js";

const theme = { series: Array(8).fill("rgb(1, 2, 3)") };
const series = { label: "H2", color: 1, dash: false, points: [[1, 20], [4, null], [16, 5]], dots: [[1, 19], [1, 21], [16, 5]], band: [[1, 18, 22]] };

test("it draws every repeat, and a band that breaks where there is no interval", () => {
  const [dots, low, high] = repeatDatasets({ series: [series] }, theme);
  assert.deepEqual(dots.data, [{ x: 1, y: 19 }, { x: 1, y: 21 }, { x: 16, y: 5 }]);
  assert.deepEqual(low.data.map(({ y }) => y), [18, null, null]);
  assert.deepEqual(high.data.map(({ y }) => y), [22, null, null]);
  assert.deepEqual([dots.of, low.fill, low.role], [0, "+1", "band"]);
  assert.deepEqual(repeatDatasets({ series: [{ ...series, dots: undefined, band: undefined }] }, theme), []);
});

test("it says of a point what its interval is and how many repeats it has", () => {
  assert.deepEqual(repeatWords(series, 1, "TPS"), ["interval 18 to 22 TPS", "2 repeats"]);
  assert.deepEqual(repeatWords(series, 4, "TPS"), []);
  assert.deepEqual(repeatWords({ ...series, band: [], open: [[1, 3, 5369]] }, 1, "TPS"), ["interval 3 to 5,369 TPS", "2 repeats"]);
});

test("it ends an axis at a round number", () => {
  assert.deepEqual([7693, 494.7, 0.013, 100].map(roundEnd), [8000, 500, 0.015, 100]);
  assert.equal(roundEnd(0), undefined);
});

test("it titles an axis by its unit where it has no label", () => {
  assert.equal(axisTitle({ label: "", unit: "TPS", better: "higher" }), "TPS, higher is better");
});

test("a title below a narrow chart takes two lines, beside it and below a wide one it takes one", () => {
  const title = "Throughput (TPS), higher is better";
  assert.deepEqual(titleLines(title, "x", 330), ["Throughput (TPS)", "higher is better"]);
  assert.deepEqual(titleLines(title, "x", 1100), [title]);
  assert.deepEqual(titleLines(title, "y", 330), [title]);
});

test("it joins the points of the front in the order of x", () => {
  const groups = [{ x: 3, y: 1, front: true }, { x: 2, y: 9, front: false }, { x: 1, y: 4, front: true }];
  assert.deepEqual(frontPoints(groups), [{ x: 1, y: 4 }, { x: 3, y: 1 }]);
});

const axis = { label: "p99", unit: "ms", scale: "linear" };
const group = (label, x, color = 0, series = "") => ({ label, series, name: label, color, x, y: 1, x_interval: null, y_interval: null, n: 1, front: false });

test("the dots of a trade-off come in the order of x, by which the axis is made", () => {
  const config = tradeOffConfig({ x: axis, y: axis, groups: [group("b", 35), group("a", 4)], joined: false }, theme);
  const [dots] = config.data.datasets;
  assert.deepEqual(dots.data.map(({ x }) => x), [4, 35]);
  assert.equal(config.options.plugins.tooltip.callbacks.title([{ raw: dots.data[1] }]), "b");
});

test("a trade-off has a legend of its colours; on a phone a number at each dot where a name is a colour", () => {
  const swept = { x: axis, y: axis, groups: [group("H2 · 1", 1, 0, "H2"), group("H2 · 2", 2, 0, "H2"), group("Derby · 1", 3, 1, "Derby")] };
  const alone = { x: axis, y: axis, groups: [group("H2", 1, 0, "H2"), group("Derby", 3, 1, "Derby")] };
  const shown = (spec, width) => tradeOffConfig(spec, theme, width).options.plugins.legend.display;
  assert.deepEqual([shown(swept, 900), shown(swept, 300), shown(alone, 900), shown(alone, 300)], [true, true, false, true]);
  const at = (spec, width) => tradeOffConfig(spec, theme, width).data.datasets.flatMap(({ data }) => data).map((dot) => dot.at);
  assert.deepEqual(at(alone, 300), ["1", "2"]);
  assert.deepEqual(at(alone, 900), ["H2", "Derby"]);
});

test("names stand upon no dot and no other name, and none beyond the chart", () => {
  const area = { left: 0, top: 0, right: 400, bottom: 300 };
  const centres = [[200, 150], [204, 152], [206, 149], [395, 150], [60, 40]];
  const boxes = placeNames(centres, Array(5).fill(90), 13, area, true);
  const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
  for (const [index, box] of boxes.entries()) {
    assert.ok(box && box[0] >= 0 && box[2] <= 400 && box[1] >= 0 && box[3] <= 300, `${index}: ${box}`);
    for (const other of boxes.slice(index + 1)) assert.ok(!overlap(box, other));
    for (const [at, [x, y]] of centres.entries()) if (at !== index) assert.ok(!overlap(box, [x - 5, y - 5, x + 5, y + 5]));
  }
  assert.deepEqual(placeNames([[5, 5], [5, 5]], [390, 390], 13, { ...area, bottom: 20 }, false).filter(Boolean), []);
});

test("a name too long for a line of the legend is broken between words", () => {
  assert.deepEqual(fill("PostgreSQL 17.2 · scale factor 100".split(" "), " ", 20), ["PostgreSQL 17.2 ·", "scale factor 100"]);
  assert.deepEqual(fill(["H2"], " ", 20), ["H2"]);
});

test("an interval without a neighbour to make a band with stands alone", () => {
  const points = [[1, 5], [2, 5], [4, 5], [8, 5]];
  assert.deepEqual(alone({ points, band: [[1, 4, 6], [4, 4, 6], [8, 4, 6]] }), [[1, 4, 6]]);
  assert.deepEqual(alone({ points }), []);
});
