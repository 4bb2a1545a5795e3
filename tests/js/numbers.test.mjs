import assert from "node:assert/strict";
import test from "node:test";
import { neighbour } from "../../static/js/numbers.js";

const cells = [[0, 1], [0, 3], [1, 1], [3, 1], [3, 3]].map(([row, column]) => ({ row, column }));

test("it goes to the next number of the row over cells without one", () => {
  assert.deepEqual(neighbour(cells, { row: 0, column: 1 }, [0, 1]), { row: 0, column: 3 });
  assert.deepEqual(neighbour(cells, { row: 0, column: 3 }, [0, -1]), { row: 0, column: 1 });
});

test("it goes down and up a column over rows without a number", () => {
  assert.deepEqual(neighbour(cells, { row: 1, column: 1 }, [1, 0]), { row: 3, column: 1 });
  assert.deepEqual(neighbour(cells, { row: 3, column: 3 }, [-1, 0]), { row: 0, column: 3 });
});

test("it stays at the edge", () => {
  assert.equal(neighbour(cells, { row: 0, column: 3 }, [0, 1]), null);
  assert.equal(neighbour(cells, { row: 3, column: 1 }, [1, 0]), null);
});
