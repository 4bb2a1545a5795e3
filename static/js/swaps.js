// What htmx replaces: the focus stays where it was, and a request that failed is told.

const PLACES = "a[href], button, summary, input, select, textarea, [tabindex]";
// Where the focus was, from the smallest part of the page with an id to the largest.
let left = [];

const placesIn = (id) => [...(document.getElementById(id)?.querySelectorAll(PLACES) ?? [])];

// htmx itself returns the focus to what has an id.
function rememberFocus({ detail: { target } }) {
  const at = document.activeElement;
  left = [];
  if (!target.contains(at) || at.id) return;
  for (let room = at.closest("[id]"); room; room = room.parentElement?.closest("[id]")) {
    left.push({ id: room.id, number: placesIn(room.id).indexOf(at), text: at.textContent });
  }
}

// A facet that has one value left is gone: the next larger part of the page takes the focus.
function returnFocus() {
  const room = left.find(({ id }) => document.getElementById(id));
  if (!room || document.activeElement !== document.body) return;
  const places = placesIn(room.id);
  const same = places[room.number] ?? places.at(-1);
  (same?.textContent === room.text ? same : places.find((place) => place.textContent === room.text) ?? same)?.focus({ preventScroll: true });
}

function tellFailure({ detail: { xhr, requestConfig, pathInfo } }) {
  takeBack();
  const notice = Object.assign(document.createElement("p"), { id: "not-updated", className: "notice notice-bad" });
  notice.setAttribute("role", "alert");
  const isAsked = Boolean(requestConfig.triggeringEvent);
  notice.append(xhr.status ? `The server answered ${xhr.status}. ` : "The server did not answer. ", isAsked ? "The page shows what it had. " : "The page asks again by itself.");
  if (isAsked && requestConfig.verb === "get") notice.append(Object.assign(document.createElement("a"), { href: pathInfo.finalRequestPath, textContent: "Try again" }));
  document.getElementById("tray").before(notice);
}

const takeBack = () => document.getElementById("not-updated")?.remove();

export function startSwaps() {
  document.addEventListener("htmx:beforeSwap", rememberFocus);
  document.addEventListener("htmx:afterSwap", returnFocus);
  document.addEventListener("htmx:afterOnLoad", ({ detail }) => { if (detail.successful) takeBack(); });
  for (const failure of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) document.addEventListener(failure, tellFailure);
}
