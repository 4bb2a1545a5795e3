import assert from "node:assert/strict";
import test from "node:test";
import { alone, repeatDatasets, repeatWords } from "../../static/js/chart-repeats.js";
import { frontPoints, tradeOffConfig } from "../../static/js/chart-tradeoff.js";
import { axisTitle, roundEnd } from "../../static/js/format.js";

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

test("it joins the points of the front in the order of x", () => {
  const groups = [{ x: 3, y: 1, front: true }, { x: 2, y: 9, front: false }, { x: 1, y: 4, front: true }];
  assert.deepEqual(frontPoints(groups), [{ x: 1, y: 4 }, { x: 3, y: 1 }]);
});

test("the dots of a trade-off come in the order of x, by which the axis is made", () => {
  const group = (label, x) => ({ label, color: 0, x, y: 1, x_interval: null, y_interval: null, n: 1, front: false });
  const axis = { label: "p99", unit: "ms", scale: "linear" };
  const config = tradeOffConfig({ x: axis, y: axis, groups: [group("b", 35), group("a", 4)], joined: false }, theme);
  assert.deepEqual(config.data.datasets[0].data.map(({ x }) => x), [4, 35]);
  assert.equal(config.options.plugins.tooltip.callbacks.title([{ dataIndex: 1 }]), "b");
});

test("an interval without a neighbour to make a band with stands alone", () => {
  const points = [[1, 5], [2, 5], [4, 5], [8, 5]];
  assert.deepEqual(alone({ points, band: [[1, 4, 6], [4, 4, 6], [8, 4, 6]] }), [[1, 4, 6]]);
  assert.deepEqual(alone({ points }), []);
});
