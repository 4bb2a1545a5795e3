// Finds figure.chart, reads its specification (json_script), draws it, keeps it alive over htmx swaps and theme changes.
// `canvas.benchsiteChart` is the Chart.js object: tests and the curious read numbers out of it.
import { linksPlugin, numbersOf } from "./chart-links.js";
import { drawKeys, readTheme } from "./chart-theme.js";
import { shareCrosshair, shareZoom, takeSecond } from "./chart-time.js";
import { isThinned, loadRange, showWhole } from "./detail.js";
import { wasOpened } from "./details.js";
import { wordsOf } from "./format.js";
import { onThemeChange } from "./theme.js";

// The answer and the source, which stand around the charts in a frame, on a phone.
const FRAME_WORDS_PX = 200;
/** Each kind is fetched when the first figure of it is there. */
const KINDS = {
  lines: () => import("./chart-lines.js").then((kind) => [kind.linesConfig, kind.linesHeight]),
  bars: () => import("./chart-bars.js").then((kind) => [kind.barsConfig, kind.barsHeight]),
  heat: () => import("./chart-heat.js").then((kind) => [kind.heatConfig, kind.heatHeight]),
  stacked: () => import("./chart-stacked.js").then((kind) => [kind.stackedConfig, kind.stackedHeight]),
  tradeoff: () => import("./chart-tradeoff.js").then((kind) => [kind.tradeOffConfig, kind.tradeOffHeight]),
};
const kinds = {}; // of a specification's type -> [configuration, height]
const drawn = new Map(); // figure -> {spec, chart, stop}
/** What writes files is fetched when the first is saved: most who look at a page save none. */
const saving = () => import("./saving.js");
const live = () => import("./live.js");

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
  const [configOf, heightOf] = kinds[spec.type];
  const height = heightOf(spec, width, document.body.matches(".embed"));
  if (height) canvas.parentElement.style.setProperty("--chart-height", `${height}px`);
  const config = configOf(spec, theme, width);
  config.plugins.push(linksPlugin(figure, spec));
  const chart = new window.Chart(canvas, config);
  canvas.benchsiteChart = chart;
  return chart;
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
  labelled(addTool(tools, "PNG", async () => (await saving()).savePng(figure)), "Save as PNG");
  labelled(addTool(tools, "CSV", async () => (await saving()).saveCsv(figure, spec)), "Save as CSV");
  if (spec.type === "lines") addZoomReset(figure, tools, spec);
  tools.hidden = false;
}

function draw(figure) {
  const type = figure.dataset.chart;
  if (!kinds[type]) {
    KINDS[type]().then((kind) => { kinds[type] = kind; drawAll(); });
    return;
  }
  const spec = readSpec(figure);
  if (!spec) return;
  const entry = { spec, chart: makeChart(figure, spec), stop: () => {} };
  drawn.set(figure, entry);
  if (!figure.hasAttribute("data-drawn")) {
    const details = numbersOf(figure);
    if (details && !wasOpened(details)) details.removeAttribute("open");
    figure.setAttribute("data-drawn", "");
  }
  addTools(figure, spec);
  if (spec.sync) shareCrosshair(figure.querySelector("canvas"), () => together(figure));
  const second = document.querySelector("[data-annotate] [name=at_s]");
  if (second && spec.sync === "run") takeSecond(figure.querySelector("canvas"), second);
  // Few charts are of a run that goes on.
  if (spec.live_url) live().then(({ startLive }) => drawn.get(figure) === entry && (entry.stop = startLive(spec, () => drawn.get(figure)?.chart)));
}

/** What names a table: its caption, else the heading of its part of the page; and the note there. */
function headingOf(table) {
  const part = table.closest("section");
  const heading = part.querySelector(".title, h2");
  const note = part.querySelector(".note, .panel-head p");
  return { title: wordsOf(table.caption ?? heading), note: note ? wordsOf(note) : "", name: table.dataset.export };
}

/** Of a table that is a picture too: `data-export` is the name of its files. */
function addTableTools(table) {
  const heading = headingOf(table);
  const scroll = table.closest(".table-scroll");
  // Where its name stands alone above it they are beside that, on one line.
  const named = table.caption ?? scroll.parentElement.querySelector(":scope > header");
  const tools = document.createElement("div");
  tools.className = "tools table-tools no-print";
  const actions = { PNG: async () => (await saving()).saveTablePng(table, heading), CSV: async () => (await saving()).saveTableCsv(table, heading) };
  for (const [label, action] of Object.entries(actions)) addTool(tools, label, action).setAttribute("aria-label", `Save as ${label}: ${heading.title}`);
  if (named) named.prepend(tools);
  else scroll.before(tools);
  table.dataset.tools = "";
}

/** The code for a frame of another page asks for the height that the charts have here, and some for words. */
function sizeFrame() {
  const code = document.querySelector("[data-embed]");
  const charts = [...document.querySelectorAll(".parts > :is(.chart, .multiples, .pivot)")];
  if (!code || !charts.length) return;
  const height = charts.reduce((sum, { offsetHeight }) => sum + offsetHeight, FRAME_WORDS_PX);
  code.textContent = code.textContent.replace(/height="\d+"/, `height="${height}"`);
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
    addTool(tools, "PNG", async () => (await saving()).savePanels(multiples)).setAttribute("aria-label", `Save as PNG: ${multiples.querySelector(".title").textContent}`);
    tools.hidden = false;
  }
  for (const figure of document.querySelectorAll("figure.chart[data-chart]")) {
    if (!drawn.has(figure)) draw(figure);
  }
  for (const table of document.querySelectorAll("table[data-export]:not([data-tools])")) addTableTools(table);
  drawLegends();
  sizeFrame();
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
