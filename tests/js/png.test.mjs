import assert from "node:assert/strict";
import { test } from "node:test";
import { captions, keyPlaces, wrapped } from "../../static/js/png.js";

const letters = (text) => text.length;

test("words are wrapped where a line would be too long, and a longer word is broken but loses nothing", () => {
  assert.deepEqual(wrapped("bars are geometric means of repeats", 12, letters), ["bars are", "geometric", "means of", "repeats"]);
  assert.deepEqual(wrapped("an unbreakableword", 5, letters), ["an", "unbre", "akabl", "eword"]);
  assert.deepEqual(wrapped("  ", 5, letters), []);
});

test("a long address stands whole, to be followed from paper", () => {
  const address = `https://bench.example/compare/?${"run=1&".repeat(100)}metric=tps`;
  const lines = wrapped(`${address} · Benchsite`, 100, letters);
  assert.ok(lines.every((line) => line.length <= 100));
  assert.ok(lines.join("").startsWith(address));
});

test("keys of a legend go on in another row where one has no room", () => {
  const at = keyPlaces(["Derby", "MariaDB", "a name that is longer than the picture", "H2"], 30, letters).map(({ x, y }) => [x, y]);
  assert.deepEqual(at, [[0, 0], [21, 0], [0, 20], [0, 40]]);
});

test("a picture of frozen numbers says since when they stand, and that the day is the one it was saved on", () => {
  const said = { title: "Throughput", page: "Sizes loss", question: "What is lost?", answer: "−71 %.", note: "Bars.", warned: "" };
  const frozen = "Frozen 2026-11-30 21:21. Since it was frozen 4 of its 165 runs were deleted.";
  const of = captions({ ...said, frozen }, "https://bench.example/reports/loss/", "2027-11-30");
  assert.equal(of.title, "Throughput – Sizes loss – What is lost?");
  assert.equal(of.note, `${frozen} Bars.`);
  assert.equal(of.source, "https://bench.example/reports/loss/ · Benchsite · saved 2027-11-30");
  assert.equal(captions({ ...said, frozen: "" }, "a", "2027-11-30").source, "a · Benchsite · 2027-11-30");
});
