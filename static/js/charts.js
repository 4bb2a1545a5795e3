// Finds figure.chart, reads its specification (json_script), draws it, keeps it alive over htmx swaps and theme changes.
// `canvas.benchsiteChart` is the Chart.js object: tests and the curious read numbers out of it.
import { barsConfig, barsHeight } from "./chart-bars.js";
import { heatConfig, heatHeight } from "./chart-heat.js";
import { linesConfig, linesHeight } from "./chart-lines.js";
import { stackedConfig, stackedHeight } from "./chart-stacked.js";
import { tradeOffConfig, tradeOffHeight } from "./chart-tradeoff.js";
import { drawKeys, readTheme } from "./chart-theme.js";
import { shareCrosshair, shareZoom, takeSecond } from "./chart-time.js";
import { chartCsv } from "./csv.js";
import { isThinned, loadRange, showWhole } from "./detail.js";
import { wasOpened } from "./details.js";
import { startLive } from "./live.js";
import { panelsTogether, picture, shortened } from "./png.js";
import { headingOf, tableCsv, tablePicture } from "./tables.js";
import { onThemeChange } from "./theme.js";

const CONFIGS = { lines: linesConfig, bars: barsConfig, stacked: stackedConfig, tradeoff: tradeOffConfig, heat: heatConfig };
const HEIGHTS = { lines: linesHeight, bars: barsHeight, stacked: stackedHeight, tradeoff: tradeOffHeight, heat: heatHeight };
// A character of the line that says where a picture comes from.
const SOURCE_PX = 6.5;
const drawn = new Map(); // figure -> {spec, chart, stop}

function readSpec(figure) {
  const source = document.getElementById(figure.dataset.source);
  const spec = source ? JSON.parse(source.textContent) : null;
  if (spec?.events_of) spec.events = JSON.parse(document.getElementById(`${spec.events_of}-data`).textContent).events;
  return spec;
}

function makeChart(figure, spec) {
  const canvas = figure.querySelector("canvas");
  canvas.benchsiteChart?.destroy();
  const theme = readTheme();
  const width = canvas.parentElement.clientWidth;
  const height = HEIGHTS[spec.type](spec, width);
  if (height) canvas.parentElement.style.height = `${height}px`;
  const chart = new window.Chart(canvas, CONFIGS[spec.type](spec, theme, width));
  canvas.benchsiteChart = chart;
  return chart;
}

function download(name, href) {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}

function save(name, blob) {
  const href = URL.createObjectURL(blob);
  download(name, href);
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** The question that the page asks and its answer, where it has one. */
function answered() {
  const text = (selector) => document.querySelector(selector)?.textContent.trim().replace(/\s+/g, " ");
  const answer = text("[data-answer]");
  return answer ? { asked: text("h1") ?? "", answer } : null;
}

/** What is drawn; of thinned lines the server gives every sample. */
function saveCsv(figure, spec) {
  const name = `${figure.id}.csv`;
  if (spec.csv_url) download(name, spec.csv_url);
  else save(name, new Blob([chartCsv(spec, answered())], { type: "text/csv" }));
}

/** Title and note as the page has them, the chart with its units, the page's address and the day. */
function savePicture(canvas, name, whole, heading) {
  const text = (selector) => whole.querySelector(selector)?.textContent.trim().replace(/\s+/g, " ") ?? "";
  saveTitled(canvas, { name, title: text(`${heading} .title`), note: text(`${heading} .note`) });
}

function saveTitled(canvas, { name, title: own, note }) {
  const page = document.querySelector("h1")?.textContent.trim();
  const title = [own, page].filter(Boolean).join(" – ");
  const answer = answered()?.answer;
  const fitting = Math.floor(canvas.width / (window.devicePixelRatio || 1) / SOURCE_PX);
  const source = `${shortened(location.href, Math.max(40, Math.min(160, fitting)))} · Benchsite · ${new Date().toISOString().slice(0, 10)}`;
  picture(canvas, { title, answer, note, source }, readTheme()).toBlob((blob) => save(`${name}.png`, blob));
}

const savePng = (figure) => savePicture(drawn.get(figure).chart.canvas, figure.id, figure, "figcaption");

/** All panels of small multiples as one picture. */
function savePanels(multiples) {
  const theme = readTheme();
  const keys = [...multiples.querySelectorAll(".keys li")].map((key) => ({
    label: key.textContent.trim(), colour: theme.series[Number(key.querySelector("[data-color]").dataset.color)],
  }));
  savePicture(panelsTogether(multiples.querySelector(".panels"), keys, theme), multiples.id, multiples, "header");
}

function addTool(tools, label, action) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button-quiet button-small";
  button.textContent = label;
  button.addEventListener("click", action);
  tools.append(button);
  return button;
}

/** Charts that share a crosshair and a zoom with this one, itself included. */
function together(figure) {
  const entry = drawn.get(figure);
  return entry.spec.sync ? [...drawn.values()].filter(({ spec }) => spec.sync === entry.spec.sync) : [entry];
}

function showZoomed(figure, buttons) {
  const entries = together(figure);
  shareZoom(drawn.get(figure).chart, entries.map(({ chart }) => chart));
  for (const { spec, chart } of entries) if (isThinned(spec)) loadRange(spec, chart);
  for (const button of buttons()) button.hidden = false;
}

function showAll(figure, buttons) {
  for (const { spec, chart } of together(figure)) {
    chart.benchsiteFollows = true;
    chart.resetZoom("none");
    chart.benchsiteFollows = false;
    if (isThinned(spec)) showWhole(spec, chart);
  }
  for (const button of buttons()) button.hidden = true;
}

/** Panels have one button, above them; charts that zoom together have one each. */
function addZoomReset(figure, tools, { sync = "" }) {
  const buttons = () => (sync ? document.querySelectorAll(`[data-whole-range="${sync}"]`) : [button]);
  const button = tools.querySelector("[data-whole-range]") ?? addTool(tools, "Whole range", () => showAll(figure, buttons));
  button.dataset.wholeRange = sync;
  button.hidden = true;
  figure.addEventListener("benchsite:zoom", () => showZoomed(figure, buttons));
}

function addTools(figure, spec) {
  const tools = figure.querySelector("[data-chart-tools]");
  const above = figure.closest(".multiples")?.querySelector("[data-range-tools]");
  if (!tools && above) addZoomReset(figure, above, spec);
  if (!tools) return;
  const title = figure.querySelector("figcaption")?.firstElementChild?.textContent ?? "chart";
  const labelled = (button, what) => button.setAttribute("aria-label", `${what}: ${title}`);
  labelled(addTool(tools, "PNG", () => savePng(figure)), "Save as PNG");
  labelled(addTool(tools, "CSV", () => saveCsv(figure, spec)), "Save as CSV");
  if (spec.type === "lines") addZoomReset(figure, tools, spec);
  tools.hidden = false;
}

function draw(figure) {
  const spec = readSpec(figure);
  if (!spec || !CONFIGS[spec.type]) return;
  const entry = { spec, chart: makeChart(figure, spec), stop: () => {} };
  drawn.set(figure, entry);
  if (!figure.hasAttribute("data-drawn")) {
    const details = figure.querySelector("details") ?? figure.closest(".multiples")?.querySelector(":scope > details");
    if (details && !wasOpened(details)) details.removeAttribute("open");
    figure.setAttribute("data-drawn", "");
  }
  addTools(figure, spec);
  if (spec.sync) shareCrosshair(figure.querySelector("canvas"), () => together(figure));
  const second = document.querySelector("[data-annotate] [name=at_s]");
  if (second && spec.sync === "run") takeSecond(figure.querySelector("canvas"), second);
  if (spec.live_url) entry.stop = startLive(spec, () => drawn.get(figure)?.chart);
}

/** Of a table that is a picture too: `data-export` is the name of its files. */
function addTableTools(table) {
  const heading = headingOf(table);
  const scroll = table.closest(".table-scroll");
  // Where its name stands alone above it they are beside that, on one line.
  const named = table.caption ?? scroll.parentElement.querySelector(":scope > header");
  const tools = document.createElement("div");
  tools.className = "tools table-tools no-print";
  const actions = { PNG: () => saveTitled(tablePicture(table), heading), CSV: () => save(`${heading.name}.csv`, new Blob([tableCsv(table, answered())], { type: "text/csv" })) };
  for (const [label, action] of Object.entries(actions)) addTool(tools, label, action).setAttribute("aria-label", `Save as ${label}: ${heading.title}`);
  if (named) named.prepend(tools);
  else scroll.before(tools);
  table.dataset.tools = "";
}

/** Charts whose figure htmx has taken out of the page. */
function dropGone() {
  for (const [figure, entry] of drawn) {
    if (figure.isConnected) continue;
    entry.stop();
    entry.chart.destroy();
    drawn.delete(figure);
  }
}

function drawAll() {
  dropGone();
  for (const tools of document.querySelectorAll(".multiples > header [data-chart-tools][hidden]")) {
    const multiples = tools.closest(".multiples");
    addTool(tools, "PNG", () => savePanels(multiples)).setAttribute("aria-label", `Save as PNG: ${multiples.querySelector(".title").textContent}`);
    tools.hidden = false;
  }
  for (const figure of document.querySelectorAll("figure.chart[data-chart]")) {
    if (!drawn.has(figure)) draw(figure);
  }
  for (const table of document.querySelectorAll("table[data-export]:not([data-tools])")) addTableTools(table);
  drawLegends();
}

/** Of panels, whose legend stands above them. */
function drawLegends() {
  for (const legend of document.querySelectorAll(".multiples")) {
    const charts = [...drawn].filter(([figure]) => legend.contains(figure)).map(([, { chart }]) => chart);
    drawKeys(legend.querySelectorAll(".keys .swatch.line"), charts);
  }
}

function redraw() {
  for (const [figure, entry] of drawn) entry.chart = makeChart(figure, entry.spec);
  drawLegends();
}

// On paper colours are those of the light theme, and charts as wide as the paper.
function print(isPrinting) {
  document.documentElement.toggleAttribute("data-printing", isPrinting);
  redraw();
}

drawAll();
window.addEventListener("beforeprint", () => print(true));
window.addEventListener("afterprint", () => print(false));
document.addEventListener("htmx:afterSwap", drawAll);
onThemeChange(redraw);
