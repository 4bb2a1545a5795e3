import assert from "node:assert/strict";
import test from "node:test";
import { chartCsv, withEnds } from "../../static/js/csv.js";

test("it writes one line per x with exact numbers and empty gaps", () => {
  const spec = {
    type: "lines", x: { label: "Time", unit: "s" }, y: { label: "Latency", unit: "ms" },
    series: [{ label: "p50", points: [[0, 1.23456789], [1, null]] }, { label: "p99", points: [[1, 9]] }],
  };
  assert.equal(chartCsv(spec), "Time (s),p50 (ms),p99 (ms)\n0,1.23456789,\n1,,9\n");
});

test("it names each x of an axis of dates", () => {
  const x = { label: "Batch", unit: "", ticks: [[0, "2026-11-28"], [1, "2026-11-29"]] };
  const series = [{ label: "Mean", points: [[0, 9], [1, 8]] }, { label: "Branch next", points: [[0.5, 7]] }];
  const spec = { type: "lines", x, y: { label: "Throughput", unit: "TPS" }, series };
  assert.equal(chartCsv(spec), "Batch,Mean (TPS),Branch next (TPS),Label\n0,9,,2026-11-28\n0.5,,7,\n1,8,,2026-11-29\n");
  // Seen: a column "Date" of 739861, 739868, …
  const onDays = chartCsv({ ...spec, x: { ...x, label: "Date" }, series: series.slice(0, 1) });
  assert.equal(onDays, "Date,Mean (TPS),Label\n2026-11-28,9,2026-11-28\n2026-11-29,8,2026-11-29\n");
  const columns = [{ label: "Commit", cells: [[0, "f00"], [0.5, "ba7"]] }];
  assert.equal(chartCsv({ ...spec, columns }).split("\n").slice(0, 3).join("\n"), "Batch,Mean (TPS),Branch next (TPS),Label,Commit\n0,9,,2026-11-28,f00\n0.5,,7,,ba7");
});

test("it writes every repeat of a group and quotes its label", () => {
  const spec = {
    type: "bars", y: { label: "Throughput", unit: "TPS" },
    groups: [
      { label: 'A, "quoted"', value: 2, statistic: "geometric mean", interval: [1, 3], dots: [1, 2, 3], gap: null },
      { label: "B", value: null, interval: null, dots: [], gap: "the picture is lost" },
    ],
  };
  assert.equal(chartCsv(spec), [
    "Group,Throughput (TPS),Statistic,Low,High,Repeat 1,Repeat 2,Repeat 3,Gap",
    '"A, ""quoted""",2,geometric mean,1,3,1,2,3,', "B,,,,,,,,the picture is lost", "",
  ].join("\n"));
});

test("it says where the values come from, where the chart does", () => {
  const lines = {
    type: "lines", x: { label: "Size", unit: "GB" }, y: { label: "Speed", unit: "" },
    series: [{ label: "SATA", origin: "printed", points: [[9.04, 3.65]] }], gaps: [{ label: "SSD", xs: [9.04] }],
  };
  assert.equal(chartCsv(lines), 'Size (GB),"SATA, printed",SSD\n9.04,3.65,\n');
  const bars = {
    type: "bars", y: { label: "Ratio", unit: "" },
    groups: [{ label: "A", value: 5, interval: null, dots: [], gap: null, origin: "a claim" }],
  };
  assert.equal(chartCsv(bars), "Group,Ratio,Low,High,Gap,Origin\nA,5,,,,a claim\n");
});

test("a table of the page is CSV with the exact numbers of its cells, else their words", async () => {
  const { tableCsv } = await import("../../static/js/tables.js");
  const cell = (textContent, value) => ({ textContent, dataset: value === undefined ? {} : { value } });
  const rows = [[cell(" Scale\n factor "), cell("H2, 2.4")], [cell("1"), cell("1,234", "1234.5")]];
  assert.equal(tableCsv({ rows: rows.map((cells) => ({ cells })) }), 'Scale factor,"H2, 2.4"\n1,1234.5\n');
});

test("it has the question and the answer of the page in each row", () => {
  const spec = { type: "lines", x: { label: "Size", unit: "GB" }, y: { label: "Rate", unit: "TPS" }, series: [{ label: "a", points: [[1, 2], [2, 1]] }] };
  const answered = { asked: "What is lost?", answer: "−50 %, sure" };
  assert.equal(chartCsv(spec, answered), 'Size (GB),a (TPS),asked,answer\n1,2,What is lost?,"−50 %, sure"\n2,1,What is lost?,"−50 %, sure"\n');
});

test("a table of ratios has them exact, each with its interval and its verdict", () => {
  const words = (...texts) => texts.map((text) => ({ words: text }));
  const ratio = { words: "1.17 ×", value: "1.1702", low: "1.15", high: "1.19", judged: "better" };
  const rows = [words("Size", "hdd0", "n"), [...words("1 GB"), ratio, ...words("3")], words("2 GB", "–", "3")];
  assert.deepEqual(withEnds(rows), [
    ["Size", "hdd0", "hdd0 from", "hdd0 to", "hdd0 verdict", "n"],
    ["1 GB", "1.1702", "1.15", "1.19", "better", "3"],
    ["2 GB", "–", undefined, undefined, undefined, "3"],
  ]);
});
