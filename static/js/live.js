// A chart that grows while its run goes on: asks the API for the samples after the last one it has.

const ENDED = new Set(["finished", "failed", "cancelled", "lost"]);
const EVERY_MS = 2000;

/** The last x of any series; null when there is none. */
export function lastX(spec) {
  const xs = spec.series.map((series) => series.points.at(-1)?.[0]).filter((x) => x !== undefined);
  return xs.length ? Math.max(...xs) : null;
}

/** Append the samples of an API answer to the series of the same metric. Returns how many were new. */
export function appendSamples(spec, answer) {
  let added = 0;
  for (const series of spec.series) {
    const sampled = answer.series.find(({ name }) => name === series.metric);
    const last = series.points.at(-1)?.[0] ?? -Infinity;
    sampled?.values.forEach((value, index) => {
      const x = sampled.t0_s + index * sampled.interval_s;
      if (x <= last) return;
      series.points.push([x, value === null ? null : value / (series.scale ?? 1)]);
      added += 1;
    });
  }
  return added;
}

function show(spec, chart) {
  spec.series.forEach((series, index) => {
    const data = chart.data.datasets[index].data;
    for (const [x, y] of series.points.slice(data.length)) data.push({ x, y });
    if (series.points.length > 60) chart.data.datasets[index].pointRadius = 0;
  });
  chart.update("none");
}

/** Start asking; returns a function that stops it. It stops by itself when the run has ended. */
export function startLive(spec, chartOf) {
  let timer = null;
  const stop = () => clearTimeout(timer);
  const ask = async () => {
    let status = "";
    try {
      const after = lastX(spec);
      const url = after === null ? spec.live_url : `${spec.live_url}&after=${after}`;
      const response = await fetch(url, { headers: { Accept: "application/json" } });
      if (response.ok) {
        const answer = await response.json();
        status = answer.status;
        const chart = chartOf();
        if (appendSamples(spec, answer) && chart) show(spec, chart);
      }
    } catch {
      // The server is away: the next turn asks again, from the same place.
    }
    if (!ENDED.has(status)) timer = setTimeout(ask, EVERY_MS);
  };
  timer = setTimeout(ask, EVERY_MS);
  return stop;
}
