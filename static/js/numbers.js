// The hints of numbers by keyboard. One number of each table is in the order of the Tab key; the arrow keys go on from it.

const SELECTOR = ".number";
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The number nearest in that direction: along the row, or in the same column of the next row that has one. */
export function neighbour(cells, { row, column }, [down, right]) {
  const numbers = cells.filter((cell) => (down ? cell.column === column && (cell.row - row) * down > 0 : cell.row === row && (cell.column - column) * right > 0));
  const distance = (cell) => Math.abs(cell.row - row) + Math.abs(cell.column - column);
  return numbers.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}

function positionOf(number) {
  const cell = number.closest("td, th");
  return { number, row: cell.parentElement.rowIndex, column: cell.cellIndex };
}

function onKey(event) {
  const number = event.target.closest?.(`table ${SELECTOR}`);
  const step = STEPS[event.key];
  if (!number || !step) return;
  const table = number.closest("table");
  const cells = [...table.querySelectorAll(`:is(td, th) ${SELECTOR}`)].map(positionOf);
  const next = neighbour(cells.filter((cell) => cell.number !== number), positionOf(number), step);
  if (!next) return;
  event.preventDefault();
  number.tabIndex = -1;
  next.number.tabIndex = 0;
  next.number.focus();
}

export function startNumbers(root) {
  for (const table of root.querySelectorAll("table")) {
    const first = table.querySelector(`:is(td, th) ${SELECTOR}`);
    if (first) first.tabIndex = 0;
  }
  root.addEventListener("keydown", onKey);
}

if (typeof document !== "undefined") startNumbers(document);
