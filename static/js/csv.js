// A chart's specification as CSV with exact numbers. Pure.
import { withOrigin } from "./format.js";

const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const line = (cells) => cells.map((cell) => (cell === null || cell === undefined ? "" : quote(String(cell)))).join(",");
const heading = (axis) => (axis.unit ? `${axis.label} (${axis.unit})` : axis.label);
const columnHead = (column, spec) => heading({ label: `${column.label}${withOrigin(column)}`, unit: spec.y.unit });

function linesRows(spec) {
  const series = spec.series.map(({ points }) => new Map(points));
  const gaps = spec.gaps ?? [];
  const xs = [...series.flatMap((points) => [...points.keys()]), ...gaps.flatMap((gap) => gap.xs)];
  const every = [...new Set(xs)].sort((a, b) => a - b);
  const labels = [...spec.series, ...gaps].map((column) => columnHead(column, spec));
  // A last column where the axis shows dates or names; where all have one, x is no more than their place on it.
  const ticks = new Map(spec.x.ticks ?? []);
  const isNamed = every.every((x) => ticks.has(x));
  const named = (x) => (ticks.size ? [ticks.get(x)] : []);
  const columns = spec.columns ?? [];
  const texts = columns.map(({ cells }) => new Map(cells));
  return [
    [heading(spec.x), ...labels, ...(ticks.size ? ["Label"] : []), ...columns.map(({ label }) => label)],
    ...every.map((x) => [isNamed ? ticks.get(x) : x, ...series.map((points) => points.get(x)), ...gaps.map(() => null), ...named(x), ...texts.map((column) => column.get(x))]),
  ];
}

function barsRows(spec) {
  const repeats = Math.max(0, ...spec.groups.map((group) => group.dots.length));
  const numbers = Array.from({ length: repeats }, (_, index) => index);
  // A last column, only where something says where it comes from.
  const origins = spec.groups.some((group) => group.origin);
  // What the values of repeats are is said of each: where a repeat is zero it is a median.
  const statistics = spec.groups.some((group) => group.statistic);
  const head = [
    "Group", heading(spec.y), ...(statistics ? ["Statistic"] : []), "Low", "High", ...numbers.map((n) => `Repeat ${n + 1}`), "Gap",
    ...(origins ? ["Origin"] : []),
  ];
  const rows = spec.groups.map((group) => [
    group.label, group.value, ...(statistics ? [group.statistic] : []), group.interval?.[0], group.interval?.[1], ...numbers.map((n) => group.dots[n]), group.gap,
    ...(origins ? [group.origin] : []),
  ]);
  return [head, ...rows];
}

function stackedRows(spec) {
  const head = ["Row", ...spec.parts.map((part) => columnHead(part, spec))];
  return [head, ...spec.rows.map((row, index) => [row, ...spec.parts.map((part) => part.values[index])])];
}

function tradeOffRows(spec) {
  const ends = (axis) => [heading(axis), "Low", "High"];
  const rows = spec.groups.map((group) => [
    group.label, group.y, ...(group.y_interval ?? [null, null]), group.x, ...(group.x_interval ?? [null, null]), group.n, group.front ? "yes" : "no",
  ]);
  return [["Group", ...ends(spec.y), ...ends(spec.x), "Repeats", "No other is better in both"], ...rows];
}

function heatRows(spec) {
  const head = [heading({ label: "From", unit: spec.x.unit }), heading({ label: `${spec.y.label} from`, unit: spec.y.unit }), heading({ label: "to below", unit: spec.y.unit }), "Count"];
  return [head, ...spec.cells];
}

const ROWS = { heat: heatRows, lines: linesRows, bars: barsRows, stacked: stackedRows, tradeoff: tradeOffRows };

/** Rows of cells as CSV text; a missing value is an empty cell. */
export const csvText = (rows) => `${rows.map(line).join("\n")}\n`;

/**
 * Rows of cells {words, value, low, high, judged} as rows of texts, the head first: of a cell the exact number where it has
 * one. A column with intervals is followed by their ends, one with verdicts by their words.
 */
export function withEnds(rows) {
  const [head, ...body] = rows;
  const further = head.map((_, at) => ["low", "high", "judged"].filter((name) => body.some((row) => row[at]?.[name] !== undefined)));
  const heading = { low: "from", high: "to", judged: "verdict" };
  const texts = (row) => row.flatMap((cell, at) => [cell.value ?? cell.words, ...(further[at] ?? []).map((name) => cell[name])]);
  return [head.flatMap(({ words }, at) => [words, ...further[at].map((name) => `${words} ${heading[name]}`)]), ...body.map(texts)];
}

/** With the question and the answer of the page beside the numbers, where it has one. */
export function withAnswer([head, ...rows], answered) {
  if (!answered) return [head, ...rows];
  return [[...head, ...Object.keys(answered)], ...rows.map((row) => [...row, ...Object.values(answered)])];
}

/** One line per x or per group. */
export const chartCsv = (spec, answered = null) => csvText(withAnswer(ROWS[spec.type](spec), answered));
