// Tables that are pictures too (heat maps, level tables, matrices) as files: CSV with exact numbers, and the picture as
// it stands on the page, drawn on a canvas.
import { canvasContext } from "./chart-theme.js";
import { csvText, withAnswer, withEnds } from "./csv.js";
import { wordsOf } from "./format.js";

/** The table as CSV text: of a cell the exact number where it has one, with the interval and the verdict, else its words. */
export function tableCsv(table, answered = null) {
  const cellOf = (cell) => ({ words: wordsOf(cell), value: cell.dataset.ratio, ...cell.dataset });
  return csvText(withAnswer(withEnds([...table.rows].map((row) => [...row.cells].map(cellOf))), answered));
}

const isClear = (colour) => colour === "transparent" || /, 0\)$/.test(colour);

/** Its words line by line, as the browser broke them: [{text, left, middle}]. */
function linesOf(node) {
  const lines = [];
  const range = document.createRange();
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const { left, top, height, width } = range.getBoundingClientRect();
    if (!width) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.top - top) < 2) last.text += ` ${word[0]}`;
    else lines.push({ text: word[0], left, top, middle: top + height / 2 });
  }
  return lines;
}

const isShown = (element) => !element.closest(".visually-hidden, button");

/** A canvas with the whole table, also what is scrolled out of sight. */
export function tablePicture(table) {
  const box = table.getBoundingClientRect();
  const context = canvasContext(box.width, box.height);
  context.translate(-box.left, -box.top);
  context.textBaseline = "middle";
  for (const element of [table, ...table.querySelectorAll("*")].filter(isShown)) {
    const style = getComputedStyle(element);
    const { left, top, width, height, bottom } = element.getBoundingClientRect();
    if (!isClear(style.backgroundColor)) {
      context.fillStyle = style.backgroundColor;
      context.fillRect(left, top, width, height);
    }
    const rule = parseFloat(style.borderBottomWidth);
    if (rule && element.matches("th, td")) {
      context.fillStyle = style.borderBottomColor;
      context.fillRect(left, bottom - rule, width, rule);
    }
  }
  const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT, (node) => (isShown(node.parentElement) ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT));
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const style = getComputedStyle(node.parentElement);
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.fillStyle = style.color;
    const lines = linesOf(node);
    // A verdict's sign stands before its words by style only.
    const sign = getComputedStyle(node.parentElement, "::before").content.match(/^"(.*)"$/)?.[1];
    if (sign && lines.length && node === node.parentElement.firstChild) {
      context.textAlign = "right";
      context.fillText(sign, lines[0].left - 3, lines[0].middle);
      context.textAlign = "left";
    }
    for (const { text, left, middle } of lines) context.fillText(text, left, middle);
  }
  return context.canvas;
}
