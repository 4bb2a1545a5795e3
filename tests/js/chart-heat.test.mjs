import assert from "node:assert/strict";
import test from "node:test";
import { shade } from "../../static/js/chart-heat.js";
import { chartCsv } from "../../static/js/csv.js";

test("a cell is the darker the more it holds, by logarithms, and one transaction is seen", () => {
  assert.equal(shade(1, 1000), 0.1);
  assert.equal(shade(1000, 1000), 1);
  assert.ok(Math.abs(shade(100, 10000) - 0.55) < 1e-9);
  assert.equal(shade(1, 1), 1);
});

test("its CSV has a line for each cell", () => {
  const spec = { type: "heat", x: { label: "Time", unit: "s" }, y: { label: "Latency", unit: "ms" }, cells: [[0, 1, 1.4, 5]] };
  assert.equal(chartCsv(spec), "From (s),Latency from (ms),to below (ms),Count\n0,1,1.4,5\n");
});
