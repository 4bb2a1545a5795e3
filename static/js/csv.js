// A chart's specification as CSV with exact numbers. Pure.
import { withOrigin } from "./format.js";

const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const line = (cells) => cells.map((cell) => (cell === null || cell === undefined ? "" : quote(String(cell)))).join(",");
const heading = (axis) => (axis.unit ? `${axis.label} (${axis.unit})` : axis.label);

function linesRows(spec) {
  const series = spec.series.map((one) => new Map(one.points));
  const gaps = spec.gaps ?? [];
  const xs = [...spec.series.flatMap((one) => one.points.map(([x]) => x)), ...gaps.flatMap((gap) => gap.xs)];
  const every = [...new Set(xs)].sort((a, b) => a - b);
  const labels = [...spec.series, ...gaps].map((one) => heading({ label: `${one.label}${withOrigin(one)}`, unit: spec.y.unit }));
  return [[heading(spec.x), ...labels], ...every.map((x) => [x, ...series.map((points) => points.get(x)), ...gaps.map(() => null)])];
}

/** A last column, only where something says where it comes from. */
function originColumn(all) {
  const any = all.some((one) => one.origin);
  return { head: any ? ["Origin"] : [], of: (one) => (any ? [one.origin] : []) };
}

function barsRows(spec) {
  const repeats = Math.max(0, ...spec.groups.map((group) => group.dots.length));
  const numbers = Array.from({ length: repeats }, (_, index) => index);
  const origins = originColumn(spec.groups);
  const head = ["Group", `Median ${heading(spec.y)}`, "Low", "High", ...numbers.map((n) => `Repeat ${n + 1}`), "Gap", ...origins.head];
  const rows = spec.groups.map((group) => [
    group.label, group.value, group.interval?.[0], group.interval?.[1], ...numbers.map((n) => group.dots[n]), group.gap,
    ...origins.of(group),
  ]);
  return [head, ...rows];
}

function stackedRows(spec) {
  const head = ["Row", ...spec.parts.map((part) => heading({ label: `${part.label}${withOrigin(part)}`, unit: spec.y.unit }))];
  return [head, ...spec.rows.map((row, index) => [row, ...spec.parts.map((part) => part.values[index])])];
}

const ROWS = { lines: linesRows, bars: barsRows, stacked: stackedRows };

/** CSV text, one line per x or per group; a missing value is an empty cell. */
export function chartCsv(spec) {
  const rows = ROWS[spec.type](spec);
  return `${rows.map(line).join("\n")}\n`;
}
