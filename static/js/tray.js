// Runs and sets that are kept for comparing: they survive paging, filtering and going from page to page. In this
// browser only. Without JavaScript the list's own button sends what is ticked on its page, and "Compare with…" is a link.

const KEY = "benchsite-tray";
// Beyond, the server gives the selection a short id (runs.compare.select.LONG_ADDRESS).
const LONG_ADDRESS = 2000;
// Of the page of differences (runs.views.runs).
const MOST_DIFFERED = 6;
let cleared = null;

const isRun = ({ query }) => query.startsWith("run=");
const queriesOf = (items) => items.map(({ query }) => query);

/** Parameters of the comparison of `items` ({query, label}): ticked runs together are one set, the others sets each. */
export function parametersOf(items) {
  const runs = items.filter(isRun).map(({ query }) => ["run", query.slice(4)]);
  const sets = items.filter((item) => !isRun(item));
  if (runs.length === 0 && sets.length === 1) return [...new URLSearchParams(sets[0].query)];
  return [...runs, ...sets.map(({ query }) => ["set", query])];
}

/** Queries of the sets by which `items` come to a comparison: ticked runs together are one. */
export function setsOf(items) {
  const runs = queriesOf(items.filter(isRun)).join("&");
  return [...(runs ? [runs] : []), ...queriesOf(items.filter((item) => !isRun(item)))];
}

/** Those of `items` that an address does not compare. `endings`: of the ids of runs that a short id selects. */
export function notCompared(items, address, endings) {
  const sets = address.getAll("set");
  const runs = [address, ...sets.map((set) => new URLSearchParams(set))].flatMap((query) => query.getAll("run"));
  const there = new Set([...runs.map((run) => `run=${run}`), ...sets, address.toString()]);
  const brief = new Set(endings);
  return items.filter((item) => !there.has(item.query) && !(isRun(item) && brief.has(item.query.slice(-12))));
}

/** "3 runs", "2 runs and 1 set". */
export function trayWords(items) {
  const runs = items.filter(isRun).length;
  const counted = [[runs, "run"], [items.length - runs, "set"]].filter(([count]) => count > 0);
  return counted.map(([count, word]) => `${count} ${word}${count === 1 ? "" : "s"}`).join(" and ");
}

/** Query of the differences of the runs that are kept; empty of one, and of more than its page has columns. */
export function diffQuery(items) {
  const runs = queriesOf(items.filter(isRun));
  return runs.length >= 2 && runs.length <= MOST_DIFFERED ? runs.join("&") : "";
}

export function kept() {
  try {
    const items = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(items) ? items.filter((item) => typeof item?.query === "string" && item.query) : [];
  } catch {
    return [];
  }
}

function keep(items) {
  try {
    localStorage.setItem(KEY, JSON.stringify(items));
  } catch {
    // A browser that stores nothing: the ticks of the page still work.
  }
  show();
}

function add(items) {
  const before = kept();
  cleared = null;
  keep([...before, ...items.filter(({ query }) => !before.some((item) => item.query === query))]);
}

const remove = (queries) => keep(kept().filter(({ query }) => !queries.includes(query)));

const itemOf = (box) => ({ query: `run=${box.value}`, label: box.dataset.label ?? "" });
const boxes = () => [...document.querySelectorAll("form[data-select-runs] input[type=checkbox][name=run]")];

/** Go to the comparison; a long address is posted, for the server to shorten. */
function compare(items) {
  const tray = document.getElementById("tray");
  const parameters = parametersOf(items);
  const query = new URLSearchParams(parameters).toString();
  if (query.length <= LONG_ADDRESS) {
    window.location.assign(`${tray.dataset.compare}?${query}`);
    return;
  }
  const form = document.createElement("form");
  form.method = "post";
  form.action = tray.dataset.ticked;
  const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
  for (const [name, value] of [["csrfmiddlewaretoken", token], ...parameters]) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(form);
  form.submit();
}

function listed(item) {
  const row = document.createElement("li");
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
  button.className = "button-quiet button-small";
  button.setAttribute("aria-label", `Take away: ${item.label}`);
  button.addEventListener("click", () => {
    remove([item.query]);
    document.querySelector("#tray-list summary")?.focus();
  });
  row.append(item.label || item.query, " ", button);
  return row;
}

/** Bring the page in line with what is kept: the tray itself, ticks of a list, buttons that offer it. */
export function show() {
  const tray = document.getElementById("tray");
  if (!tray) return;
  const items = kept();
  const queries = new Set(queriesOf(items));
  tray.hidden = items.length === 0 && !cleared;
  tray.querySelector("[data-tray-words]").textContent = items.length ? `${trayWords(items)} kept` : "Nothing is kept";
  tray.querySelector("ul").replaceChildren(...items.map(listed));
  for (const part of tray.querySelectorAll("[data-tray-compare], [data-tray-clear]")) part.hidden = items.length === 0;
  const diff = tray.querySelector("[data-tray-diff]");
  diff.hidden = !diffQuery(items);
  diff.href = `${diff.pathname}?${diffQuery(items)}`;
  tray.querySelector("[data-tray-undo]").hidden = !cleared;
  for (const box of boxes()) {
    if (box.checked === queries.has(`run=${box.value}`)) continue;
    box.checked = !box.checked;
    box.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const button of document.querySelectorAll("[data-tray-add]")) {
    const isKept = queries.has(button.dataset.trayAdd);
    button.hidden = false;
    button.setAttribute("aria-pressed", String(isKept));
    button.textContent = isKept ? "Kept ✓" : "Keep to compare";
  }
  for (const offer of document.querySelectorAll("[data-tray-offer]")) {
    const address = new URLSearchParams(window.location.search);
    const others = notCompared(items, address, offer.dataset.compared.split(" "));
    offer.hidden = others.length === 0;
    const link = offer.querySelector("a");
    for (const query of setsOf(others)) address.append("set", query);
    link.textContent = `Add what is kept: ${trayWords(others)}`;
    link.href = `${window.location.pathname}?${address}`;
  }
}

export function startTray() {
  const tray = document.getElementById("tray");
  if (!tray) return;
  document.addEventListener("change", (event) => {
    if (!event.isTrusted || !event.target.closest?.("form[data-select-runs]")) return;
    // After the list's own handler, which ticks all.
    setTimeout(() => {
      const ticked = boxes().filter((box) => box.checked).map(itemOf);
      const unticked = boxes().filter((box) => !box.checked).map((box) => `run=${box.value}`);
      const before = kept().filter(({ query }) => !unticked.includes(query));
      cleared = null;
      keep([...before, ...ticked.filter(({ query }) => !before.some((item) => item.query === query))]);
    });
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-tray-add], [data-tray-compare], [data-tray-clear], [data-tray-undo]");
    if (!button) return;
    const items = kept();
    if (button.dataset.trayAdd) {
      const item = { query: button.dataset.trayAdd, label: button.dataset.label };
      if (items.some(({ query }) => query === item.query)) remove([item.query]);
      else add([item]);
    } else if (button.matches("[data-tray-compare]")) {
      compare(items);
    } else if (button.matches("[data-tray-clear]")) {
      cleared = items;
      keep([]);
      tray.querySelector("[data-tray-undo]").focus();
    } else {
      const back = cleared ?? [];
      cleared = null;
      keep(back);
      tray.querySelector("[data-tray-compare]").focus();
    }
  });
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) show();
  });
  show();
}
