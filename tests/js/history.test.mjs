import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { querySelectorAll: () => [] };
const { inOrder } = await import("../../static/js/history.js");

test("what was ticked by hand and by a click stands in one order", () => {
  assert.deepEqual(inOrder([], ["b", "a"]), ["b", "a"]);
  assert.deepEqual(inOrder(["b", "a"], ["a", "c", "b"]), ["b", "a", "c"]);
  assert.deepEqual(inOrder(["b", "a"], ["a"]), ["a"]);
});
