import assert from "node:assert/strict";
import test from "node:test";
import { localText, localizeTimes } from "../../static/js/times.js";

test("it writes a time in the zone of the machine, sortable", () => {
  const date = new Date(2026, 10, 3, 5, 9, 7);
  assert.equal(localText(date), "2026-11-03 05:09");
  assert.equal(localText(date, "clock"), "05:09:07");
});

test("a batch keeps its day in UTC, as sentences tell it, with the time in the zone of the machine as its title", () => {
  const text = "2026-11-25 22:30 UTC";
  const styled = (style) => ({ dateTime: "2026-11-25T22:30:00Z", textContent: text, dataset: { style } });
  const [batch, other] = [styled("utc"), styled("minute")];
  const elements = { "time[datetime*='T']:not([data-local])": [batch, other] };
  localizeTimes({ querySelectorAll: (selector) => elements[selector] ?? [] });
  const local = localText(new Date(batch.dateTime));
  assert.deepEqual([batch.textContent, batch.title], [text, `${local} in your zone`]);
  assert.deepEqual([other.textContent, other.title], [local, text]);
});
