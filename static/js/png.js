// A chart as a picture that says what it is: title, the answer of the page, note, the chart, and where and when it was
// saved. Made on a canvas.
import { canvasContext } from "./chart-theme.js";
import { fill } from "./format.js";

/** The words of `text` as lines that fit `width`; `measure` gives the width of a text. Pure. */
export const wrapped = (text, width, measure) => fill(text.split(/\s+/).filter(Boolean), " ", width, measure);

/** A long address is cut in its middle: its beginning names the site, its end what was looked at. Pure. */
export function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, Math.ceil(most * 0.7))}…${text.slice(-Math.floor(most * 0.3) + 1)}`;
}

const PADDING = 16;

/** All panels of small multiples on one canvas, as they stand on the page, each with its title and all with the legend. */
export function panelsTogether(panels, keys, theme) {
  const box = panels.getBoundingClientRect();
  const legendPx = keys.length ? 24 : 0;
  const context = canvasContext(box.width, box.height + legendPx);
  context.textBaseline = "middle";
  context.font = `12px ${theme.font}`;
  let x = 0;
  for (const { label, colour } of keys) {
    context.fillStyle = colour;
    context.fillRect(x, 7, 22, 2);
    context.fillStyle = theme.ink;
    context.fillText(label, x + 28, 8);
    x += 44 + context.measureText(label).width;
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
