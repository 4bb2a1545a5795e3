import assert from "node:assert/strict";
import test from "node:test";
import { localText } from "../../static/js/times.js";

test("it writes a time in the zone of the machine, sortable", () => {
  const date = new Date(2026, 10, 3, 5, 9, 7);
  assert.equal(localText(date), "2026-11-03 05:09");
  assert.equal(localText(date, "clock"), "05:09:07");
});
