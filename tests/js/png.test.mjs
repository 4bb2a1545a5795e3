import assert from "node:assert/strict";
import { test } from "node:test";
import { keyPlaces, shortened, wrapped } from "../../static/js/png.js";

const letters = (text) => text.length;

test("words are wrapped where a line would be too long, and a long word stays whole", () => {
  assert.deepEqual(wrapped("bars are geometric means of repeats", 12, letters), ["bars are", "geometric", "means of", "repeats"]);
  assert.deepEqual(wrapped("an unbreakableword", 5, letters), ["an", "unbreakableword"]);
  assert.deepEqual(wrapped("  ", 5, letters), []);
});

test("a long address keeps its beginning and its end", () => {
  const address = `https://bench.example/compare/?${"run=1&".repeat(100)}metric=tps`;
  const short = shortened(address, 100);
  assert.ok(short.length <= 101);
  assert.ok(short.startsWith("https://bench.example/compare/") && short.endsWith("metric=tps"));
  assert.equal(shortened("https://bench.example/", 100), "https://bench.example/");
});

test("keys of a legend go on in another row where one has no room", () => {
  const at = keyPlaces(["Derby", "MariaDB", "a name that is longer than the picture", "H2"], 30, letters).map(({ x, y }) => [x, y]);
  assert.deepEqual(at, [[0, 0], [21, 0], [0, 20], [0, 40]]);
});
