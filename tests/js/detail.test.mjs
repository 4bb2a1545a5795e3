import assert from "node:assert/strict";
import test from "node:test";
import { rangePoints, rangeUrl } from "../../static/js/detail.js";

const spec = { detail_url: "/api/v1/runs/1/series/?metric=a&columns=1000", series: [{ metric: "a", scale: 2 }, { metric: "b" }] };

test("it asks for the stretch that is shown", () => {
  assert.equal(rangeUrl(spec, 1.5, 3), "/api/v1/runs/1/series/?metric=a&columns=1000&after=1.5&before=3");
});

test("it gives the points in the unit of the axis, gaps as gaps, and leaves alone what is not told", () => {
  const answer = { thinned: [{ name: "a", points: [[1, 4], [2, null]] }] };
  assert.deepEqual(rangePoints(spec, answer), [[{ x: 1, y: 2 }, { x: 2, y: null }], null]);
});
