// Pages carry UTC in <time datetime>; here it becomes the visitor's own zone, of a batch as its title: sentences and
// charts name its day in UTC. A date without a time stays a date.

const pad = (number) => String(number).padStart(2, "0");

/** "2026-11-21 05:19" (or "05:19:41" for style "clock") of a Date in the zone of the machine. */
export function localText(date, style = "minute") {
  const clock = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  if (style === "clock") return `${clock}:${pad(date.getSeconds())}`;
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${clock}`;
}

export function localizeTimes(root) {
  for (const element of root.querySelectorAll("time[datetime*='T']:not([data-local])")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    if (element.dataset.style === "utc") {
      element.title = `${localText(date)} in your zone`;
    } else {
      element.title = element.textContent.trim();
      element.textContent = localText(date, element.dataset.style);
    }
    element.dataset.local = "";
  }
  for (const note of root.querySelectorAll("[data-timezone]")) {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    note.textContent = `Times that do not say UTC are in your zone, ${zone}; days of batches are UTC.`;
  }
}
