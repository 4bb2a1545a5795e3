import assert from "node:assert/strict";
import test from "node:test";
import { isThinned, rangePoints, rangeUrl } from "../../static/js/detail.js";

const spec = { detail_url: "/api/v1/runs/1/series/?metric=a&columns=1000", series: [{ metric: "a", scale: 2 }, { metric: "b" }] };

test("it asks for the stretch that is shown", () => {
  assert.equal(rangeUrl(spec.detail_url, 1.5, 3), "/api/v1/runs/1/series/?metric=a&columns=1000&after=1.5&before=3");
});

test("it gives the points in the unit of the axis, gaps as gaps, and leaves alone what is not told", () => {
  const answer = { thinned: [{ name: "a", points: [[1, 4], [2, null]] }] };
  assert.deepEqual(rangePoints(spec, new Map([[spec.detail_url, answer]])), [[{ x: 1, y: 2 }, { x: 2, y: null }], null]);
  assert.deepEqual(rangePoints(spec, new Map([[spec.detail_url, undefined]])), [null, null]);
});

test("lines of several runs have their samples at several addresses", () => {
  const several = { type: "lines", series: [{ metric: "a", detail_url: "/1" }, { metric: "a", detail_url: "/2" }] };
  const answers = new Map([["/1", { thinned: [{ name: "a", points: [[0, 1]] }] }], ["/2", { thinned: [{ name: "a", points: [[0, 2]] }] }]]);
  assert.deepEqual(rangePoints(several, answers), [[{ x: 0, y: 1 }], [{ x: 0, y: 2 }]]);
  assert.ok(isThinned(several));
  assert.ok(!isThinned({ type: "lines", series: [{ metric: "a" }] }));
});
