// A thinned chart into which somebody zooms: asks the API for what lies in the stretch, and puts it in place of the rest.

/** The address of the samples between two times. */
export const rangeUrl = (spec, from, to) => `${spec.detail_url}&after=${from}&before=${to}`;

/** Points of every series of the specification from an API answer, in the axis's unit; null where it has none. */
export function rangePoints(spec, answer) {
  return spec.series.map((series) => {
    const sampled = answer.thinned.find(({ name }) => name === series.metric);
    return sampled ? sampled.points.map(([x, y]) => ({ x, y: y === null ? null : y / (series.scale ?? 1) })) : null;
  });
}

const show = (chart, lines) => {
  lines.forEach((data, index) => { if (data) chart.data.datasets[index].data = data; });
  chart.update("none");
};

/** Load the stretch that the chart shows now. The thinned lines stay when the server does not answer. */
export async function loadRange(spec, chart) {
  const { min, max } = chart.scales.x;
  try {
    const response = await fetch(rangeUrl(spec, min, max), { headers: { Accept: "application/json" } });
    // Somebody may have gone on meanwhile.
    if (response.ok && chart.scales.x.min === min) show(chart, rangePoints(spec, await response.json()));
  } catch {
    // The server is away: what is drawn is right, only coarse.
  }
}

/** The whole range again, as the page came. */
export const showWhole = (spec, chart) => show(chart, spec.series.map(({ points }) => points.map(([x, y]) => ({ x, y }))));
