// A chart's specification as CSV with exact numbers. Pure.

const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const line = (cells) => cells.map((cell) => (cell === null || cell === undefined ? "" : quote(String(cell)))).join(",");
const heading = (axis) => (axis.unit ? `${axis.label} (${axis.unit})` : axis.label);

function linesRows(spec) {
  const series = spec.series.map((one) => new Map(one.points));
  const every = [...new Set(spec.series.flatMap((one) => one.points.map(([x]) => x)))].sort((a, b) => a - b);
  const head = [heading(spec.x), ...spec.series.map((one) => heading({ label: one.label, unit: spec.y.unit }))];
  return [head, ...every.map((x) => [x, ...series.map((points) => points.get(x))])];
}

function barsRows(spec) {
  const repeats = Math.max(0, ...spec.groups.map((group) => group.dots.length));
  const numbers = Array.from({ length: repeats }, (_, index) => index);
  const head = ["Group", `Median ${heading(spec.y)}`, "Low", "High", ...numbers.map((n) => `Repeat ${n + 1}`), "Gap"];
  const rows = spec.groups.map((group) => [
    group.label, group.value, group.interval?.[0], group.interval?.[1], ...numbers.map((n) => group.dots[n]), group.gap,
  ]);
  return [head, ...rows];
}

/** CSV text, one line per x or per group; a missing value is an empty cell. */
export function chartCsv(spec) {
  const rows = spec.type === "lines" ? linesRows(spec) : barsRows(spec);
  return `${rows.map(line).join("\n")}\n`;
}
