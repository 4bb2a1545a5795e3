import assert from "node:assert/strict";
import test from "node:test";
import { behind } from "../../static/js/chart-links.js";

const at = (datasetIndex, index) => ({ datasetIndex, index });

test("behind a bar is its row, behind a dot a repeat in it", () => {
  const spec = { type: "bars", groups: [{ row: 4 }, { row: 7 }] };
  assert.deepEqual(behind(spec, at(0, 1), { data: [{ x: 5 }, { x: 9 }] }), { row: 7 });
  assert.deepEqual(behind(spec, at(1, 0), { data: [{ x: 465, group: 1 }] }), { row: 7, value: 465 });
});

test("behind a point of a line is the row of its place on the line, behind a dot a repeat in it", () => {
  const spec = { type: "lines", series: [{ row: 0, points: [[1, 10], [4, 40]] }, { row: 2, points: [[1, 20], [4, null], [8, 90]] }] };
  assert.deepEqual(behind(spec, at(1, 2), { data: [{ x: 1 }, { x: 4 }, { x: 8 }] }), { row: 4 });
  assert.deepEqual(behind(spec, at(2, 0), { role: "dot", of: 1, data: [{ x: 8, y: 91 }] }), { row: 4, value: 91 });
  for (const role of ["band", "overlay"]) assert.equal(behind(spec, at(2, 0), { role, of: 1, data: [{ x: 8, y: 91 }] }), null);
});

test("behind each point of a line over time is its run", () => {
  const spec = { type: "lines", series: [{ url: "/runs/1/", points: [[0, 10], [1, 40]] }] };
  assert.deepEqual(behind(spec, at(0, 1), { data: [{ x: 0 }, { x: 1 }] }), { url: "/runs/1/" });
});

test("behind a dot of two metrics is its row", () => {
  const spec = { type: "tradeoff", groups: [{ row: 0 }, { row: 1 }] };
  assert.deepEqual(behind(spec, at(0, 0), { data: [{ x: 3, y: 4, row: 1 }] }), { row: 1 });
  assert.equal(behind(spec, at(1, 0), { role: "front", data: [{ x: 3, y: 4 }] }), null);
});

test("behind what has no row in a table is nothing", () => {
  assert.equal(behind({ type: "bars", groups: [{}] }, at(0, 0), { data: [{ x: 5 }] }), null);
  assert.equal(behind({ type: "lines", series: [{ points: [[1, 10]] }] }, at(0, 0), { data: [{ x: 1, y: 10 }] }), null);
  assert.equal(behind({ type: "heat", cells: [] }, at(0, 0), { data: [{ x: 1, y: 10 }] }), null);
});
