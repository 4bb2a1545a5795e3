import assert from "node:assert/strict";
import test from "node:test";
import { diffQuery, notCompared, parametersOf, setsOf, trayWords } from "../../static/js/tray.js";

const of = (...queries) => queries.map((query) => ({ query, label: query }));

test("ticked runs are one set, everything else a set each", () => {
  assert.deepEqual(parametersOf(of("run=a", "batch=b", "run=c", "publication=d&dbms=e")), [
    ["run", "a"], ["run", "c"], ["set", "batch=b"], ["set", "publication=d&dbms=e"],
  ]);
});

test("one set alone stands plainly in the address", () => {
  assert.deepEqual(parametersOf(of("publication=d&dbms=e")), [["publication", "d"], ["dbms", "e"]]);
});

test("it says what is kept", () => {
  assert.equal(trayWords(of("run=a", "run=b", "run=c")), "3 runs");
  assert.equal(trayWords(of("run=a", "batch=b")), "1 run and 1 set");
});

test("two to six runs lead to what differs between them", () => {
  assert.equal(diffQuery(of("run=a", "batch=b", "run=c")), "run=a&run=c");
  assert.equal(diffQuery(of("run=a", "batch=b")), "");
  assert.equal(diffQuery(of(..."abcdefg".split("").map((name) => `run=${name}`))), "");
});

test("ticked runs come to a comparison as one set", () => {
  assert.deepEqual(setsOf(of("run=a", "batch=b", "run=c")), ["run=a&run=c", "batch=b"]);
  assert.deepEqual(setsOf(of("batch=b")), ["batch=b"]);
});

test("what an address compares is not offered to it again, however it names it", () => {
  const run = "run=0b0e6a10-0000-4000-8000-00000000000";
  const there = new URLSearchParams([["s", "short"], ["run", "a"], ["set", "run=b&run=c"], ["set", "batch=d"]]);
  const items = of("run=a", "run=b", "run=c", "run=e", "batch=d", "batch=f", `${run}1`, `${run}2`);
  const others = notCompared(items, there, ["000000000001"]).map(({ query }) => query);
  assert.deepEqual(others, ["run=e", "batch=f", `${run}2`]);
  assert.deepEqual(notCompared(of("batch=d"), new URLSearchParams("batch=d"), [""]), []);
});
