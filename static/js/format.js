// Numbers as pages write them. Pure; the server's twin is runs/formatting.py.

/** Four significant digits, whole numbers whole, thousands grouped: 0.01235, 83.27, 508, 1,192; 2.126·10⁻⁹. */
export function formatNumber(value) {
  const rounded = Number(value.toPrecision(4));
  if (value !== 0 && Math.abs(value) < 1e-6) {
    const [digits, exponent] = rounded.toExponential().split("e");
    return `${digits}·10${[...exponent].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("")}`;
  }
  if (Number.isInteger(value) || Math.abs(rounded) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(rounded);
}

/** Of 1,000,000 bytes each: 108 MB, 9.04 GB, 1,814 GB. */
export function sizeWords(megabytes) {
  const [unit, least] = megabytes >= 1e3 ? ["GB", 1e3] : ["MB", 1];
  const size = megabytes / least;
  return `${size >= 100 ? Math.round(size).toLocaleString("en-US") : String(Number(size.toPrecision(3)))} ${unit}`;
}

/** Number with unit; a missing value is said in words, never zero. */
export function withUnit(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not known";
  const one = value === 1 ? unit?.replace(/^(?!.*(?:i|ss|x|ch|sh)es$)([a-z]{3,}[b-hj-nqrtv-z])s$/, "$1") : unit;
  return one ? `${formatNumber(value)} ${one}` : formatNumber(value);
}

/** All digits of a printed value, up to ten: 446.42, 1,813.969025. */
export const exactNumber = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 10 });

/** 2.5 decades of 1/(1 − p) are "99.68 %". */
export const percentileWords = (nines) => `${(100 * (1 - 10 ** -nines)).toFixed(Math.max(0, Math.ceil(nines) - 1))} %`;

/** ", printed" where a series or bar says where its values come from. */
export const withOrigin = (shown) => (shown?.origin ? `, ${shown.origin}` : "");

/** "Throughput (TPS)", or the unit alone; with a direction "Throughput (TPS), higher is better". */
export function axisTitle({ label, unit, better }) {
  const title = label && unit ? `${label} (${unit})` : label || unit;
  return better === "higher" || better === "lower" ? `${title}, ${better} is better` : title;
}

/** Values at which a log axis from `min` to `max` has a labelled tick: 1, 2, 5 per decade; only powers of ten over 3 decades. */
export function logTicks(min, max) {
  if (!(min > 0) || !(max >= min)) return [];
  const decades = Math.log10(max) - Math.log10(min);
  const steps = decades > 3 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1) {
    for (const step of steps) {
      const value = Number(`${step}e${power}`);
      if (value >= min * 0.999999 && value <= max * 1.000001) ticks.push(value);
    }
  }
  return ticks;
}

/** Bounds of a log axis: the neighbours in the series 1, 2, 5, 10 around the values. */
export function logBounds(values) {
  const known = values.filter((value) => value > 0);
  if (known.length === 0) return { min: 1, max: 10 };
  return { min: neighbour(Math.min(...known), -1), max: neighbour(Math.max(...known), +1) };
}

/** The first round number from `value` on at which an axis may end: 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 in each decade. */
export function roundEnd(value) {
  if (!(value > 0)) return undefined;
  const decade = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((step) => Number((step * decade).toPrecision(12))).find((end) => end >= value * 0.999999);
}

function neighbour(value, direction) {
  const power = Math.floor(Math.log10(value));
  const around = [power - 1, power, power + 1].flatMap((p) => [1, 2, 5].map((step) => Number(`${step}e${p}`)));
  return direction < 0
    ? Math.max(...around.filter((tick) => tick < value))
    : Math.min(...around.filter((tick) => tick > value));
}

/** Offsets in [-0.5, 0.5] that spread `count` dots over the thickness of a bar, in their order. */
export function spread(count) {
  if (count <= 1) return Array(count).fill(0);
  return Array.from({ length: count }, (_, index) => index / (count - 1) - 0.5);
}

/** Parts joined to lines of at most `width`, in characters or as `measure` says; a longer part keeps its line. */
export function fill(parts, joint, width, measure = (text) => text.length) {
  const lines = [];
  for (const part of parts) {
    const joined = `${lines.at(-1)}${joint}${part}`;
    if (lines.length && measure(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

/** A word that is longer than a line, behind a sign that joins its parts (a path, name=value), else anywhere. */
function broken(word, width) {
  if (word.length <= width) return [word];
  const parts = fill(word.match(/[^,;_/=.:-]*[,;_/=.:-]+|[^,;_/=.:-]+/g), "", width);
  return parts.flatMap((part) => part.match(new RegExp(`.{1,${width}}`, "gu")));
}

/** A label broken into lines of at most `width` characters: between its parts ("A · B") first, then between words. */
export function wrapLabel(text, width) {
  const fitted = (line) => (line.length > width ? fill(line.split(" "), " ", width).flatMap((word) => broken(word, width)) : [line]);
  return fill(text.split(" · "), " · ", width).flatMap(fitted);
}

/** Labels of which one does not fit, without the words that all begin with ("… a 1.0"), and as far as they still tell
 *  what they are of without their middles ("17.2-devel+g…23456789"). */
export function shortened(labels, fits) {
  if (labels.every(fits)) return labels;
  const [first, ...others] = labels;
  const alike = first.split("").findIndex((letter, at) => others.some((other) => other[at] !== letter));
  const begin = first.lastIndexOf(" ", alike - 1) + 1;
  const ends = others.length && begin ? labels.map((label) => `… ${label.slice(begin)}`) : labels;
  const short = ends.map((label) => withoutMiddle(label, fits));
  return new Set(short).size === new Set(ends).size ? short : ends;
}

function withoutMiddle(label, fits) {
  let short = label;
  for (let kept = label.length - 1; !fits(short) && kept > 1; kept -= 1) short = `${label.slice(0, Math.ceil(kept / 2))}…${label.slice(-Math.floor(kept / 2))}`;
  return short;
}

/** What an element of a page says, on one line. */
export const wordsOf = (element) => element.textContent.trim().replace(/\s+/g, " ");
