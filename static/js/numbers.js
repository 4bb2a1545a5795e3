// The hints of numbers by keyboard. One number of each table is in the order of the Tab key; the arrow keys go on from it.

const SELECTOR = ".number";
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The number nearest in that direction: along the row, or in the same column of the next row that has one. */
export function neighbour(cells, { row, column }, [down, right]) {
  const numbers = cells.filter((one) => (down ? one.column === column && (one.row - row) * down > 0 : one.row === row && (one.column - column) * right > 0));
  const distance = (one) => Math.abs(one.row - row) + Math.abs(one.column - column);
  return numbers.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}

function place(number) {
  const cell = number.closest("td, th");
  return { number, row: cell.parentElement.rowIndex, column: cell.cellIndex };
}

function onKey(event) {
  const number = event.target.closest?.(`table ${SELECTOR}`);
  const step = STEPS[event.key];
  if (!number || !step) return;
  const table = number.closest("table");
  const cells = [...table.querySelectorAll(`:is(td, th) ${SELECTOR}`)].map(place);
  const next = neighbour(cells.filter((one) => one.number !== number), place(number), step);
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
