import assert from "node:assert/strict";
import test from "node:test";
import { appendSamples, lastX } from "../../static/js/live.js";

const spec = () => ({
  series: [
    { metric: "latency_p50_ms", points: [[0, 5], [1, 6]] },
    { metric: "latency_p99_ms", points: [[0, 9], [1, null]] },
  ],
});

test("it appends the samples that are new and leaves the known ones alone", () => {
  const chart = spec();
  const answer = { series: [
    { name: "latency_p50_ms", t0_s: 1, interval_s: 1, values: [99, 7, 8] },
    { name: "latency_p99_ms", t0_s: 2, interval_s: 1, values: [10] },
  ] };
  assert.equal(appendSamples(chart, answer), 3);
  assert.deepEqual(chart.series[0].points, [[0, 5], [1, 6], [2, 7], [3, 8]]);
  assert.deepEqual(chart.series[1].points, [[0, 9], [1, null], [2, 10]]);
});

test("it keeps a gap a gap", () => {
  const chart = spec();
  appendSamples(chart, { series: [{ name: "latency_p50_ms", t0_s: 2, interval_s: 1, values: [null] }] });
  assert.deepEqual(chart.series[0].points.at(-1), [2, null]);
});

test("it starts from nothing", () => {
  const chart = { series: [{ metric: "tps", points: [] }] };
  assert.equal(lastX(chart), null);
  assert.equal(appendSamples(chart, { series: [{ name: "tps", t0_s: 0, interval_s: 1, values: [100, 110] }] }), 2);
  assert.equal(lastX(chart), 1);
});

test("it ignores a metric that the chart does not show", () => {
  assert.equal(appendSamples(spec(), { series: [{ name: "tps", t0_s: 5, interval_s: 1, values: [1] }] }), 0);
});

test("bytes are appended in the unit of the axis", () => {
  const memory = { series: [{ metric: "server_rss_bytes", scale: 2 ** 20, points: [[0, 286]] }] };
  appendSamples(memory, { series: [{ name: "server_rss_bytes", t0_s: 1, interval_s: 1, values: [300 * 2 ** 20] }] });
  assert.deepEqual(memory.series[0].points.at(-1), [1, 300]);
});
