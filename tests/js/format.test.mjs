import assert from "node:assert/strict";
import test from "node:test";
import { axisTitle, formatNumber, logBounds, logTicks, shortened, sizeWords, spread, withUnit, wrapLabel } from "../../static/js/format.js";

test("it writes numbers with four significant digits and groups thousands", () => {
  const written = [0, 1.5282e-6, 2.126e-9, 0.0123456, 0.5, 83.2712, 508, 508.46, 1192.4, 123456.7, -3.25].map(formatNumber);
  assert.deepEqual(written, ["0", "0.000001528", "2.126·10⁻⁹", "0.01235", "0.5", "83.27", "508", "508.5", "1,192", "123,457", "-3.25"]);
});

test("it says a size in the unit that it comes to", () => {
  assert.deepEqual([108, 9040, 10737, 1770000, 128000].map(sizeWords), ["108 MB", "9.04 GB", "10.7 GB", "1,770 GB", "128 GB"]);
});

test("it never turns a missing value into zero", () => {
  assert.equal(withUnit(null, "TPS"), "not known");
  assert.equal(withUnit(Number.NaN, "TPS"), "not known");
  assert.equal(withUnit(0, "TPS"), "0 TPS");
});

test("it names the unit and the direction of an axis", () => {
  assert.equal(axisTitle({ label: "Throughput", unit: "TPS", better: "higher" }), "Throughput (TPS), higher is better");
  assert.equal(axisTitle({ label: "Time", unit: "s" }), "Time (s)");
  assert.equal(axisTitle({ label: "Count", unit: "", better: "none" }), "Count");
});

test("it puts 1, 2 and 5 on a short log axis", () => {
  assert.deepEqual(logTicks(1, 100), [1, 2, 5, 10, 20, 50, 100]);
});

test("it puts only powers of ten on a long log axis, so that labels do not collide", () => {
  assert.deepEqual(logTicks(1, 100000), [1, 10, 100, 1000, 10000, 100000]);
});

test("it has no ticks for a log axis that touches zero", () => {
  assert.deepEqual(logTicks(0, 10), []);
});

test("it opens a log axis to the neighbours in 1, 2, 5", () => {
  assert.deepEqual(logBounds([114, 2363]), { min: 100, max: 5000 });
  assert.deepEqual(logBounds([10, 100]), { min: 5, max: 200 });
  assert.deepEqual(logBounds([]), { min: 1, max: 10 });
  assert.deepEqual(logBounds([0.03, 0.4]), { min: 0.02, max: 0.5 });
});

test("it spreads dots evenly around the middle", () => {
  assert.deepEqual(spread(1), [0]);
  assert.deepEqual(spread(3), [-0.5, 0, 0.5]);
  assert.deepEqual(spread(0), []);
});

test("it breaks labels between their parts first, then between words", () => {
  assert.deepEqual(wrapLabel("Derby 10.6 · terminals 4 · SSD", 17), ["Derby 10.6", "terminals 4 · SSD"]);
  assert.deepEqual(wrapLabel("Firebird SuperClassic 2.5 RC2 · SSD", 12), ["Firebird", "SuperClassic", "2.5 RC2", "SSD"]);
  assert.deepEqual(wrapLabel("H2 2.4", 12), ["H2 2.4"]);
  const long = wrapLabel("PostgreSQL 18.0 · shared_buffers=16GB,max_wal_size=64GB", 16);
  assert.deepEqual(long, ["PostgreSQL 18.0", "shared_buffers=", "16GB,max_wal_", "size=64GB"]);
  assert.deepEqual(wrapLabel("x".repeat(20), 16), ["x".repeat(16), "xxxx"]);
});

test("labels that do not fit leave out the words that all begin with, then their middles", () => {
  const fits = (text) => text.length <= 15;
  assert.deepEqual(shortened(["A long system a 1.0", "A long system b 1.0"], fits), ["… a 1.0", "… b 1.0"]);
  assert.deepEqual(shortened(["A long system 1.0", "A long systems 1.0"], fits), ["… system 1.0", "… systems 1.0"]);
  assert.deepEqual(shortened(["PG 17.2-devel+git20261128", "PG 16.4-stable+git20251128"], fits), ["… 17.2-…0261128", "… 16.4-…0251128"]);
  assert.deepEqual(shortened(["An only system that is long"], fits), ["An only…is long"]);
  for (const labels of [["Derby", "H2"], [`x${"a".repeat(20)}1z${"b".repeat(20)}`, `x${"a".repeat(20)}2z${"b".repeat(20)}`]]) assert.deepEqual(shortened(labels, fits), labels);
});
