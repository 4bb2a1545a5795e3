import assert from "node:assert/strict";
import test from "node:test";
import { rowSums, stackedConfig, stackedHeight } from "../../static/js/chart-stacked.js";
import { fromZero, linesConfig, linesHeight } from "../../static/js/chart-lines.js";
import { bandPlugin, gapWords, gapsHeight, lostStretches, markSide, markRows, markWords, marksHeight, overlayDatasets, stripTop } from "../../static/js/chart-marks.js";
import { chartCsv } from "../../static/js/csv.js";

const theme = { series: Array(8).fill("rgb(0, 105, 168)"), font: "sans" };
const stacked = {
  type: "stacked", y: { label: "Size", unit: "MB" }, rows: ["ORDER_LINE", "HISTORY"],
  parts: [{ label: "Data", color: 0, values: [607505.3, 53850.86] }, { label: "Indexes", color: 1, values: [50582.3, 0] }],
};

test("it says how many values are lost and why", () => {
  assert.equal(gapWords({ label: "SSD", xs: [9, 10], reason: "the picture is lost" }), "SSD: 2 values not known, the picture is lost");
  assert.equal(gapWords({ label: "SSD", xs: [9], reason: "the picture is lost" }), "SSD: 1 value not known, the picture is lost");
  assert.equal(gapWords({ label: "SSD", xs: [9], reason: "the picture is lost" }, false), "SSD: 1 value not known");
  assert.equal(gapWords({ label: "", xs: [64], reason: "failed" }), "1 value not known, failed");
});

test("it stacks the strips of several gaps", () => {
  const gaps = [{}, {}];
  assert.ok(stripTop(300, gaps, 0) > 300 - gapsHeight(gaps));
  assert.ok(stripTop(300, gaps, 0) < stripTop(300, gaps, 1) && stripTop(300, gaps, 1) < 300);
});

test("it keeps lost values as empty cells of the file", () => {
  const spec = {
    type: "lines", x: { label: "Size", unit: "GB" }, y: { label: "Load", unit: "MB/s" },
    series: [{ label: "SATA", points: [[9, 3.65]] }], gaps: [{ label: "SSD", xs: [9, 10], reason: "lost" }],
  };
  assert.equal(chartCsv(spec), "Size (GB),SATA (MB/s),SSD (MB/s)\n9,3.65,\n10,,\n");
});

test("it adds up the parts of a row", () => {
  assert.deepEqual(rowSums(stacked).map((sum) => Number(sum.toFixed(2))), [658087.6, 53850.86]);
  assert.ok(stackedHeight(stacked) > 100);
});

test("it draws a dataset per part with the exact values", () => {
  const config = stackedConfig(stacked, theme);
  assert.deepEqual(config.data.datasets.map((dataset) => dataset.data.map((bar) => bar.x)), stacked.parts.map((part) => part.values));
});

test("it writes the parts as columns", () => {
  assert.equal(chartCsv(stacked), "Row,Data (MB),Indexes (MB)\nORDER_LINE,607505.3,50582.3\nHISTORY,53850.86,0\n");
});

test("a band is shaded as far as it is shown, a clear one only named in its middle", () => {
  const drawn = [];
  const context = {
    save() {}, restore() {}, measureText: (text) => ({ width: text.length * 5 }),
    fillRect(...box) { drawn.push([this.fillStyle, ...box]); }, fillText: (...label) => drawn.push(label),
  };
  const scale = { getPixelForValue: (value) => value * 10 };
  const bands = [{ from: 0, to: 20, label: "warm-up" }, { from: 20, to: 40, label: "slow", clear: true, below: true }, { from: 50, to: 60, label: "beyond" }];
  bandPlugin(bands, { ...theme, band: "grey", panel: "rgb(255, 255, 255)" }).beforeDatasetsDraw({ ctx: context, chartArea: { left: 100, right: 500, top: 10, bottom: 110 }, scales: { x: scale } });
  assert.deepEqual(drawn.filter(([style]) => style === "grey"), [["grey", 100, 10, 100, 100]]);
  assert.deepEqual(drawn.filter(([text]) => /^[a-z-]+$/.test(text) && text !== "grey"), [["warm-up", 103, 19.5], ["slow", 290, 100.5]]);
});

test("it sets a height only for lines with gaps", () => {
  assert.equal(linesHeight({ marks: [] }), 0);
  const series = [..."12345678"].map((name) => ({ label: `PostgreSQL 15.8, ${name} terminals` }));
  assert.equal(linesHeight({ series: series.slice(0, 2) }, 320), 0);
  assert.ok(linesHeight({ series }, 320) > linesHeight({ series }, 640));
  assert.ok(linesHeight({ gaps: [{}] }) > gapsHeight([{}]));
  // Was: more, so that one height was two values in panels beside each other, 15rem high without gaps.
  assert.equal(linesHeight({ panel: true, gaps: [{}] }), 240 + gapsHeight([{}]));
});

// The chart that was a vertical blob: sizes of 15 to 108 MB, and the machine's memory.
const sweep = {
  type: "lines", x: { label: "Size of the database", unit: "MB", scale: "linear", even: true }, y: { label: "Throughput", unit: "TPS", zero: true },
  series: [{ label: "Derby", color: 0, dash: false, points: [[15.2, 700], [61.4, 430], [108.1, 290]] }],
  bands: [], marks: [{ axis: "x", value: 25277, label: "RAM 25 GB" }],
};

test("a mark never sets the axis: beyond the data an arrow at the edge says where it lies", () => {
  const config = linesConfig(sweep, theme);
  assert.deepEqual(config.plugins.map((plugin) => plugin.id), ["benchsiteMarks"]);
  const [mark] = sweep.marks;
  assert.equal(markWords(mark, markSide(mark, { min: 0, max: 120 })), "RAM 25 GB →");
  assert.equal(markWords(mark, markSide(mark, { min: 20000, max: 30000 })), "RAM 25 GB");
  assert.equal(markWords(mark, markSide(mark, { min: 30000, max: 90000 })), "← RAM 25 GB");
  assert.equal(markWords({ axis: "y", label: "1" }, "after"), "1 ↑");
});

test("marks have as many rows above the plot as their labels take", () => {
  const marks = [10, 40, 45, 90].map((value) => ({ axis: "x", value, label: "17.2" })).concat({ axis: "y", value: 1, label: "1" });
  const axis = { span: [0, 100], scale: "linear" };
  assert.deepEqual(markRows(marks, axis, 1000), [0, 0, 1, 0, 0]);
  assert.deepEqual(markRows(marks, axis, 150), [0, 1, 2, 0, 0]);
  assert.deepEqual(markRows(marks, { ticks: [[0, "a"], [100, "b"]] }, 1000), [0, 0, 1, 0, 0]);
  assert.deepEqual(markRows(marks, {}, 1000), [0, 1, 2, 3, 0]);
  assert.equal(marksHeight(marks, [0, 0, 1, 0, 0]), 2 * marksHeight(marks, [0, 0, 0, 0, 0]));
  assert.equal(marksHeight(marks.slice(4), [0]), 0);
});

test("an axis of sizes does not begin below zero", () => {
  assert.deepEqual(fromZero([1, 100]), { min: 0 });
  assert.deepEqual(fromZero([15.2, 108.1]), {});
});

test("lines that were computed are thin, have no points and go with their series", () => {
  const overlays = [{ label: "Derby, ideal", color: 0, dash: false, points: [[1, 5], [2, 10]] }];
  const [line] = overlayDatasets({ overlays, series: sweep.series }, theme);
  assert.deepEqual([line.of, line.role, line.pointRadius, line.borderWidth], [0, "overlay", 0, 1]);
  assert.deepEqual(line.data, [{ x: 1, y: 5 }, { x: 2, y: 10 }]);
  assert.deepEqual(overlayDatasets({ series: [] }, theme), []);
});

test("nights that failed weeks apart are a stretch each, values at the end of a curve one", () => {
  assert.deepEqual(lostStretches([33, 12], [10, 11, 13, 32, 34]), [[12], [33]]);
  assert.deepEqual(lostStretches([900, 1200, 1800], [100, 800]), [[900, 1200, 1800]]);
});
