// A chart as a picture that says what it is: title, the answer of the page, note, the chart, and where and when it was
// saved. Made on a canvas.
import { KEY_PX, canvasContext } from "./chart-theme.js";
import { fill } from "./format.js";

/** A word that is wider than a line, as an address is, in parts that fill theirs. */
const inParts = (word, width, measure) => (measure(word) <= width ? [word] : fill([...word], "", width, measure));

/** The words of `text` as lines that fit `width`; `measure` gives the width of a text. Pure. */
export const wrapped = (text, width, measure) =>
  fill(text.split(/\s+/).filter(Boolean).flatMap((word) => inParts(word, width, measure)), " ", width, measure);

const PADDING = 16;
const KEY_ROW_PX = 20, KEY_GAP_PX = 16;

/**
 * The words of a picture, for `picture`: what is drawn, the page that it is of, its question and answer, when its numbers were
 * frozen, note, warnings, address and the day on which it was saved, which is not that of frozen numbers. Pure.
 */
export const captions = ({ title, page, question, answer, frozen, note, warned }, address, day) => ({
  title: [title, page, question].filter(Boolean).join(" – "),
  answer,
  note: [frozen && `${frozen.replace(/\.$/, "")}.`, note, warned].filter(Boolean).join(" "),
  source: `${address} · Benchsite · ${frozen ? "saved " : ""}${day}`,
});

/** Where the keys of a legend stand, {key, x, y} each, in rows of at most `width`; `measure` gives the width of one. Pure. */
export function keyPlaces(keys, width, measure) {
  let [x, y] = [0, 0];
  return keys.map((key) => {
    const wide = measure(key);
    if (x && x + wide > width) [x, y] = [0, y + KEY_ROW_PX];
    const place = { key, x, y };
    x += wide + KEY_GAP_PX;
    return place;
  });
}

/** All panels of small multiples on one canvas, as they stand on the page, each with its title and all with the legend. */
export function panelsTogether(panels, keys, theme) {
  const box = panels.getBoundingClientRect();
  const probe = document.createElement("canvas").getContext("2d");
  probe.font = `12px ${theme.font}`;
  const places = keyPlaces(keys, box.width, ({ label }) => KEY_PX + 6 + probe.measureText(label).width);
  const legendPx = places.length ? places.at(-1).y + KEY_ROW_PX + 4 : 0;
  const context = canvasContext(box.width, box.height + legendPx);
  context.textBaseline = "middle";
  context.font = probe.font;
  context.fillStyle = theme.ink;
  for (const { key: { label, mark }, x, y } of places) {
    if (mark) context.drawImage(mark, x, y + 2, KEY_PX, 12);
    context.fillText(label, x + KEY_PX + 6, y + 8);
  }
  context.font = `600 13px ${theme.font}`;
  for (const figure of panels.querySelectorAll("figure.chart")) {
    const canvas = figure.querySelector("canvas");
    const at = canvas.getBoundingClientRect();
    const title = figure.querySelector("figcaption").getBoundingClientRect();
    context.fillText(figure.querySelector("figcaption").textContent.trim(), title.left - box.left, title.top - box.top + title.height / 2 + legendPx);
    context.drawImage(canvas, at.left - box.left, at.top - box.top + legendPx, at.width, at.height);
  }
  return context.canvas;
}

/**
 * `chart`: the drawn canvas. `words`: {title, answer, note, source}; empty ones are left out. A transparent picture would be
 * unreadable where it is pasted, so it stands on the panel's colour. Returns a canvas.
 */
export function picture(chart, words, theme) {
  const scale = chart.clientWidth ? chart.width / chart.clientWidth : window.devicePixelRatio || 1;
  const width = chart.width + 2 * PADDING * scale;
  const probe = document.createElement("canvas").getContext("2d");
  const block = (text, size, weight, colour) => {
    const font = `${weight} ${size * scale}px ${theme.font}`;
    probe.font = font;
    const lines = wrapped(text ?? "", chart.width, (piece) => probe.measureText(piece).width);
    return { lines, font, colour, line: size * 1.4 * scale };
  };
  const above = [block(words.title, 16, 650, theme.ink), block(words.answer, 14, 400, theme.ink), block(words.note, 12, 400, theme.soft)];
  const below = [block(words.source, 11, 400, theme.soft)];
  const tall = (blocks) => blocks.reduce((sum, { lines, line }) => sum + lines.length * line, 0);
  const copy = document.createElement("canvas");
  copy.width = width;
  copy.height = Math.ceil(chart.height + tall(above) + tall(below) + 4 * PADDING * scale * 0.75);
  const context = copy.getContext("2d");
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, copy.width, copy.height);
  context.textBaseline = "top";
  let y = PADDING * scale;
  const write = ({ lines, font, colour, line }) => {
    context.font = font;
    context.fillStyle = colour;
    for (const text of lines) {
      context.fillText(text, PADDING * scale, y);
      y += line;
    }
  };
  above.forEach(write);
  y += PADDING * scale * 0.5;
  context.drawImage(chart, PADDING * scale, y);
  y += chart.height + PADDING * scale * 0.5;
  below.forEach(write);
  return copy;
}
