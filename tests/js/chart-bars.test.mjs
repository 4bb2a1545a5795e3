import assert from "node:assert/strict";
import test from "node:test";
import { barData, barsConfig, barsHeight, dotData, endWords, labelLines, shownValues, whiskers } from "../../static/js/chart-bars.js";

const group = (extra) => ({ label: "g", color: 0, value: 508, interval: null, dots: [465, 508, 511], gap: null, ranked: true, ...extra });

test("it draws every repeat as a dot of its row", () => {
  const dots = dotData([group(), group({ dots: [7] })]);
  assert.deepEqual(dots.map((dot) => dot.x), [465, 508, 511, 7]);
  assert.deepEqual(dots.map((dot) => dot.group), [0, 0, 0, 1]);
  assert.equal(new Set(dots.map((dot) => dot.y)).size, 4);
  for (const dot of dots) assert.ok(Math.abs(dot.y - dot.group) < 0.5);
});

test("it leaves a gap without a length, not with zero", () => {
  assert.deepEqual(barData([group({ value: null, gap: "lost", dots: [] })]), [{ x: null, y: 0 }]);
});

test("a whisker reaches over the interval, once, and over none of a gap", () => {
  const lines = [];
  const context = { save() {}, restore() {}, beginPath: () => lines.push([]), rect() {}, clip() {}, stroke() {}, lineTo: (...point) => lines.at(-1).push(point) };
  const chart = { ctx: context, chartArea: {}, scales: { x: { getPixelForValue: (value) => value }, y: { getPixelForValue: (row) => 100 * row } } };
  const plugin = whiskers([group({ interval: [460, 520] }), group({ value: null, interval: [1, 2] })], { ink: "black" });
  for (const index of [0, 1]) plugin.afterDatasetDraw(chart, { index });
  assert.deepEqual(lines.slice(1), [[[460, 0], [520, 0]], [[460, -5], [460, 5]], [[520, -5], [520, 5]]]);
});

test("an interval of scattered repeats does not take the axis from what was measured", () => {
  assert.deepEqual(shownValues([group({ interval: [40, 44000] })]), [508, 465, 508, 511, 40, 511 * 1.15]);
  assert.deepEqual(shownValues([group({ interval: [460, 520] })]), [508, 465, 508, 511, 460, 520]);
});

test("an interval that leaves the axis has its end in words", () => {
  assert.equal(endWords(group({ interval: [40, 4400] }), 600), "to 4,400");
  assert.equal(endWords(group({ interval: [0.2, 35442185] }), 600), "to over 10 × that");
  assert.equal(endWords(group({ interval: [460, 520] }), 600), "");
  assert.equal(endWords(group({ value: null, interval: null }), 600), "");
});

test("a label of a phone is no wider than what the chart leaves to it", () => {
  for (const label of ["PostgreSQL 15.18 · 4 terminals", "MariaDB 10.11.19"]) {
    assert.ok(Math.max(...labelLines(group({ label }), 322).map((line) => line.length)) <= 14, label);
  }
});

test("it grows with its groups", () => {
  const y = { label: "", unit: "" };
  assert.ok(barsHeight({ y, groups: Array(6).fill(group()) }) > barsHeight({ y, groups: [group()] }));
  const wordy = { y, groups: [group({ label: "Firebird SuperClassic 2.5 RC2 · terminals 4 · SSD" })] };
  assert.ok(barsHeight(wordy, 360) > barsHeight(wordy, 1200));
  assert.ok(barsHeight(wordy, 1200, true) < barsHeight(wordy, 1200), "in a frame");
  const titled = { y: { label: "Throughput", unit: "TPS", better: "higher" }, groups: [group({ label: "H2" })] };
  assert.equal(barsHeight(titled, 360) - barsHeight(titled, 1200), 15);
});

test("bars of changes begin at no change, and a fall ends at its left", () => {
  const theme = { series: ["rgb(0, 0, 0)"], font: "", panel: "", ink: "", soft: "", grid: "", rule: "" };
  const groups = [0.8, 1.5].map((value) => group({ value, dots: [] }));
  const config = barsConfig({ y: { label: "Throughput, as a ratio", unit: "" }, scale: "linear", groups, base: 1 }, theme);
  const [bars] = config.data.datasets;
  assert.deepEqual([bars.base, bars.borderWidth.map(({ left, right }) => [left, right])], [1, [[3, 0], [0, 3]]]);
  const { min, beginAtZero } = config.options.scales.x;
  assert.ok(min > 0.7 && min < 0.8 && !beginAtZero);
});

test("on a logarithmic axis only the end of a bar is drawn, in all panels on one axis", () => {
  const theme = { series: ["rgb(0, 0, 0)"], font: "", panel: "", ink: "", soft: "", grid: "", rule: "" };
  const y = { label: "Throughput", unit: "TPS", better: "higher" };
  const config = (scale) => barsConfig({ y, scale, groups: [group()], least: 2, most: 9000 }, theme);
  assert.equal(config("log").data.datasets[0].backgroundColor, "transparent");
  assert.deepEqual(config("linear").data.datasets[0].backgroundColor, ["rgba(0, 0, 0, 0.32)"]);
  const { min, max } = config("log").options.scales.x;
  assert.deepEqual([min, max], [1, 10000]);
});
