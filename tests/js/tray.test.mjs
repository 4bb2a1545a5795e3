import assert from "node:assert/strict";
import test from "node:test";
import { diffQuery, parametersOf, trayWords } from "../../static/js/tray.js";

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
