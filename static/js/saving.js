// Charts and tables of a page as files: PNG with the question, the answer, the address and the day, and CSV.
import { readTheme } from "./chart-theme.js";
import { chartCsv } from "./csv.js";
import { wordsOf } from "./format.js";
import { captions, panelsTogether, picture } from "./png.js";
import { tableCsv, tablePicture } from "./tables.js";

const wordsAt = (whole, selector) => {
  const element = whole.querySelector(selector);
  return element ? wordsOf(element) : "";
};

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

const saveText = (name, text) => save(`${name}.csv`, new Blob([text], { type: "text/csv" }));

/** When the numbers were frozen, and what became of their runs since; empty of such as are live. */
const frozen = () => ["[data-frozen-at]", "[data-since]"].map((part) => wordsAt(document, part)).filter(Boolean).join(". ");

/** The question that the page asks and its answer, where it has one, and what all of its groups have in common. */
function answered() {
  const answer = wordsAt(document, "[data-answer]");
  const { common, metric } = document.querySelector("[data-common]")?.dataset ?? {};
  const asked = wordsAt(document, "[data-question]") || wordsAt(document, "h1");
  const kept = frozen();
  return answer ? { ...(metric && { metric }), ...(kept && { frozen: kept }), asked, answer, ...(common && { common }) } : null;
}

function savePicture(canvas, { name, title, note }) {
  // Of warnings that are folded their subjects.
  const warned = wordsAt(document, ".warnings > summary") || wordsAt(document, ".warnings");
  const said = { page: wordsAt(document, "h1"), question: wordsAt(document, "[data-question]"), answer: answered()?.answer, frozen: frozen(), warned };
  const words = captions({ title, note, ...said }, location.href, new Date().toISOString().slice(0, 10));
  picture(canvas, words, readTheme()).toBlob((blob) => save(`${name}.png`, blob));
}

/** Title and note as the page has them. */
const headingIn = (whole, part) => ({ name: whole.id, title: wordsAt(whole, `${part} .title`), note: wordsAt(whole, `${part} .note`) });

export const savePng = (figure) => savePicture(figure.querySelector("canvas"), headingIn(figure, "figcaption"));

/** What is drawn; of thinned lines the server gives every sample. */
export function saveCsv(figure, spec) {
  if (spec.csv_url) download(`${figure.id}.csv`, spec.csv_url);
  else saveText(figure.id, chartCsv(spec, answered()));
}

/** All panels of small multiples as one picture. */
export function savePanels(multiples) {
  const theme = readTheme();
  const keys = [...multiples.querySelectorAll(".keys li")].map((key) => ({ label: key.textContent.trim(), mark: key.querySelector("canvas") }));
  savePicture(panelsTogether(multiples.querySelector(".panels"), keys, theme), headingIn(multiples, "header"));
}

export const saveTablePng = (table, heading) => savePicture(tablePicture(table), heading);

export const saveTableCsv = (table, heading) => saveText(heading.name, tableCsv(table, answered()));
