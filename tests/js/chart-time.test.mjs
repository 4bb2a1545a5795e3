import assert from "node:assert/strict";
import test from "node:test";
import { clockTicks, clockWords, eventWords, isLong, nearestIndex, valuesAt } from "../../static/js/chart-time.js";
import { percentileWords } from "../../static/js/format.js";

test("a long run has ticks at whole minutes and hours, few enough to be read", () => {
  assert.deepEqual(clockTicks(0, 86400), [0, 10800, 21600, 32400, 43200, 54000, 64800, 75600, 86400]);
  assert.deepEqual(clockTicks(3590, 3660), [3590, 3600, 3610, 3620, 3630, 3640, 3650, 3660]);
  assert.equal(clockTicks(0, 40 * 86400)[1] % 604800, 0);
  assert.equal(clockWords(10800), "3:00");
  assert.equal(clockWords(3725), "1:02:05");
});

test("only an axis of time that is long is told in hours", () => {
  assert.ok(isLong({ label: "Time", unit: "s" }, [0, 1200]));
  assert.ok(isLong({ label: "Time", unit: "s", span: [0, 86400] }, []));
  assert.ok(!isLong({ label: "Time", unit: "s" }, [0, 600]));
  assert.ok(!isLong({ label: "Restart", unit: "s" }, [0, 9000]));
});

test("the crosshair takes the nearest sample", () => {
  const points = [0, 1, 2, 5].map((x) => ({ x }));
  assert.deepEqual([-9, 0.4, 0.6, 3.4, 3.6, 99].map((x) => nearestIndex(points, x)), [0, 0, 1, 2, 3, 3]);
  assert.equal(nearestIndex([], 1), -1);
});

test("the events of a time are told once each", () => {
  const events = [{ x: 10, words: "checkpoint" }, { x: 10.4, words: "checkpoint" }, { x: 11, words: "stall, 2 s" }, { x: 20, words: "later" }];
  assert.deepEqual(eventWords(events, 10.2, 1), ["checkpoint", "stall, 2 s"]);
  assert.deepEqual(eventWords(events, 15, 1), []);
});

test("percentiles have as many digits as nines", () => {
  assert.deepEqual([0, 1, 2, 3, 2.5].map(percentileWords), ["0 %", "90 %", "99.0 %", "99.90 %", "99.68 %"]);
});

test("the crosshair says the values of few lines, the span of many", () => {
  const line = (label, y) => ({ label, data: [{ x: 0, y: 1 }, { x: 5, y }] });
  assert.equal(valuesAt([line("SQLite", 480), line("Derby", null)], 4, "TPS"), "SQLite: 480 TPS");
  assert.equal(valuesAt([1, 2, 3, 4, 5].map((n) => line(`r${n}`, n * 10)), 4, "ms"), "10 to 50 ms of 5");
});
