// A thinned chart into which somebody zooms: asks the API for what lies in the stretch, and puts it in place of the rest.
import { toData } from "./chart-theme.js";

/** The address of the samples between two times. */
export const rangeUrl = (url, from, to) => `${url}&after=${from}&before=${to}`;

/** Where the samples of a line are: of its own run, or of that of the whole chart; undefined where it is not thinned. */
const detailOf = (spec, series) => series.detail_url ?? spec.detail_url;

/** Whether there is more to a chart than it shows. */
export const isThinned = (spec) => spec.type === "lines" && spec.series.some((series) => detailOf(spec, series));

/** Points of every series of the specification from answers by address, in the axis's unit; null where they have none. */
export function rangePoints(spec, answers) {
  return spec.series.map((series) => {
    const sampled = answers.get(detailOf(spec, series))?.thinned.find(({ name }) => name === series.metric);
    return sampled ? sampled.points.map(([x, y]) => ({ x, y: y === null ? null : y / (series.scale ?? 1) })) : null;
  });
}

const show = (chart, lines) => {
  lines.forEach((data, index) => { if (data) chart.data.datasets[index].data = data; });
  chart.update("none");
};

async function fetched(url) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" } });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined; // The server is away: what is drawn is right, only coarse.
  }
}

// Charts that zoom together ask the same of a run.
const MOST_ASKED = 24;
const asked = new Map();

function ask(url, { min, max }) {
  const wanted = rangeUrl(url, min, max);
  if (!asked.has(wanted)) asked.set(wanted, fetched(wanted));
  if (asked.size > MOST_ASKED) asked.delete(asked.keys().next().value);
  return asked.get(wanted) ?? fetched(wanted);
}

/** Load the stretch that the chart shows now. The thinned lines stay when the server does not answer. */
export async function loadRange(spec, chart) {
  const { min, max } = chart.scales.x;
  const urls = [...new Set(spec.series.map((series) => detailOf(spec, series)).filter(Boolean))];
  const answers = new Map(await Promise.all(urls.map(async (url) => [url, await ask(url, { min, max })])));
  // Somebody may have gone on meanwhile.
  if (chart.scales.x.min === min) show(chart, rangePoints(spec, answers));
}

/** The whole range again, as the page came. */
export const showWhole = (spec, chart) => show(chart, spec.series.map(({ points }) => toData(points)));
