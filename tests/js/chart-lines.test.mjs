import assert from "node:assert/strict";
import test from "node:test";
import { above, evenTicks, levelTicks, linesConfig, roundEnds, shareTicks, sized, tellableTicks } from "../../static/js/chart-lines.js";
import { toData } from "../../static/js/chart-theme.js";

const ticks = (...values) => values.map((value) => ({ value }));

test("it drops a last tick that would collide with the one before it", () => {
  assert.deepEqual(evenTicks(ticks(0, 20, 40, 49)), ticks(0, 20, 40));
  assert.deepEqual(evenTicks(ticks(0, 20, 40, 60)), ticks(0, 20, 40, 60));
  assert.deepEqual(evenTicks(ticks(0, 7)), ticks(0, 7));
});

test("it keeps a gap of a series a gap", () => {
  assert.deepEqual(toData([[0, 5], [1, null]]), [{ x: 0, y: 5 }, { x: 1, y: null }]);
});

test("the levels are the ticks of their axis where they have room", () => {
  const wide = { isLog: true, min: 0.9, max: 300, px: 800 };
  assert.deepEqual(levelTicks([4, 1, 2, 4], { ...wide, isLog: false, min: 0, max: 4 }), [1, 2, 4]);
  assert.deepEqual(levelTicks([1, 2, 4, 8, 16, 32, 64, 128, 256], wide), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
  assert.deepEqual(levelTicks([1, 2, 4, 8, 16, 32, 64, 128, 256], { ...wide, px: 250 }), [1, 4, 16, 64, 256]);
  assert.deepEqual(levelTicks([7], wide), [7]);
});

test("of levels that crowd at one end of their axis most have no room", () => {
  const crowded = { isLog: false, min: 0, max: 1900, px: 800 };
  assert.deepEqual(levelTicks([9.04, 15.1, 20.2, 25.3, 30.3, 1814], crowded), []);
});

test("an axis of shares ends at 100 % where they reach it", () => {
  assert.equal(above({ unit: "%" }, [3, 98.5]).max, 100);
  assert.deepEqual(above({ unit: "%" }, [3, 104]), { grace: "5%" });
  assert.deepEqual(above({ unit: "MiB" }, [98]), { grace: "5%" });
});

test("dates of two months stand beside each other, never over each other, the newest among them", () => {
  const nights = Array.from({ length: 62 }, (_, night) => [738000 + night, "2026-09-20"]);
  const shown = tellableTicks(nights, { min: 737995, max: 738066, px: 620 }).map(([place]) => place);
  assert.equal(shown.at(-1), 738061);
  assert.deepEqual(shown.map((place, at) => shown[at + 1] - place).slice(0, -1), Array(shown.length - 1).fill(10));
  const apart = tellableTicks([[1, "2026-01-01"], [2, "2026-01-02"], [400, "2027-02-04"]], { min: 0, max: 401, px: 620 });
  assert.deepEqual(apart.map(([place]) => place), [2, 400]);
});

const theme = { series: ["#000"], font: "sans" };
const spec = (points, x = {}) => ({
  type: "lines", x: { label: "Size", unit: "", scale: "linear", ...x }, y: { label: "TPS", unit: "TPS" }, marks: [], bands: [],
  series: [{ label: "a", color: 0, dash: false, points }],
});

test("panels have the same axis of values, whatever their bands reach and where it begins", () => {
  for (const y of [{ span: [8000, 13000], scale: "linear", zero: false }, { span: [0, 13000], scale: "linear", zero: true }, { span: [1, 13000], scale: "log" }]) {
    const of = (...values) => {
      const drawn = { ...spec(values.map((value, at) => [at, value])), panel: true, y: { label: "TPS", unit: "TPS", ...y } };
      drawn.series[0].band = [[0, 10, 90000]];
      const { min, max } = linesConfig(drawn, theme).options.scales.y;
      return { min, max };
    };
    assert.deepEqual(of(8000, 9000), of(12000, 13000));
    assert.ok(of(9000).min <= y.span[0] && of(9000).max >= 13000);
  }
});

test("shares that reach 100 % have their number at the top, from whatever they begin", () => {
  assert.deepEqual(shareTicks(10, 200), [20, 40, 60, 80, 100]);
  assert.deepEqual(shareTicks(50, 90), [60, 80, 100]);
  assert.deepEqual(shareTicks(0, 40), [0, 100]);
  const built = { min: 10, height: 200 };
  above({ unit: "%" }, [12, 100]).afterBuildTicks(built);
  assert.equal(built.ticks.at(-1).value, 100);
});

test("the axis of one point says that one value only", () => {
  for (const x of [0, 5]) {
    const scale = linesConfig(spec([[x, 100]]), theme).options.scales.x;
    const built = {};
    scale.afterBuildTicks(built);
    assert.deepEqual(built.ticks, [{ value: x }]);
    assert.ok(scale.min < x && x < scale.max);
  }
});

test("a line is dotted up to the levels that it leaps to", () => {
  const of = (leaps) => linesConfig({ ...spec([[1, 1], [2, 2], [30, 3]]), series: [{ label: "a", color: 0, dash: false, points: [[1, 1], [2, 2], [30, 3]], leaps }] }, theme).data.datasets[0].segment;
  const dashAt = (x) => of([30]).borderDash({ p1: { parsed: { x } } });
  assert.ok(dashAt(30).length);
  assert.equal(dashAt(2), undefined);
  assert.equal(of([]), undefined);
});

test("lines that all look alike have no legend, and the one that is pointed at is named", () => {
  const two = { ...spec([[1, 1], [2, 2]]), series: ["a", "b"].map((label) => ({ label, color: 7, dash: false, points: [[1, 1], [2, 2]] })) };
  const of = (alike) => linesConfig({ ...two, alike }, { ...theme, series: Array(8).fill("#000") }).options;
  assert.deepEqual([of(false).plugins.legend.display, of(false).interaction.axis], [true, "x"]);
  assert.deepEqual([of(true).plugins.legend.display, of(true).interaction.axis], [false, "xy"]);
});

test("sizes of more than a GB are said in the unit of each", () => {
  const axis = sized({ label: "Database size", unit: "MB" }, [10, 10737]);
  assert.deepEqual([axis.unit, axis.words(10), axis.words(10737)], ["", "10 MB", "10.7 GB"]);
  assert.equal(sized({ label: "Database size", unit: "MB" }, [10, 200]).unit, "MB");
});

test("an axis of values below zero holds them all", () => {
  assert.deepEqual(roundEnds([3, 98]), { min: 0, max: 100 });
  assert.deepEqual(roundEnds([-2.85, 2.4]), { min: -3, max: 2.5 });
  assert.deepEqual(roundEnds([-8, -2]), { min: -10, max: 0 });
});

test("a curve of shares that begins at zero ends at 100 %", () => {
  const y = (unit, most) => linesConfig({ ...spec([[1, 90], [64, 99.9]]), y: { label: "Hit share", unit, zero: true, span: [90, most] } }, theme).options.scales.y;
  assert.deepEqual([y("%", 99.9).min, y("%", 99.9).max], [0, 100]);
  assert.deepEqual([y("%", 104).max, y("ms", 99.9).max], [120, 120]);
});

test("of a stretch that is zoomed into only the ticks within it are told", () => {
  const days = Array.from({ length: 60 }, (_, index) => [index, `2026-11-${index}`]);
  const told = tellableTicks(days, { min: 40.5, max: 44.5, px: 1000 });
  assert.deepEqual(told.map(([at]) => at), [41, 42, 43, 44]);
  assert.deepEqual(tellableTicks(days, { min: 80, max: 90, px: 1000 }), []);
});
