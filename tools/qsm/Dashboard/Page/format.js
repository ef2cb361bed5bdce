// Figures for people. What was not measured is a dash.
const none = "–";
const fixed = (value, digits) => value.toFixed(digits);

function scaled(value, step, units, gap) {
  let unit = 0;
  while (Math.abs(value) >= step && unit < units.length - 1) {
    value /= step;
    unit++;
  }
  const digits = unit === 0 && Number.isInteger(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return fixed(value, digits) + gap + units[unit];
}

const count = value => value == null ? none : scaled(value, 1000, ["", "k", "M", "G", "T"], "");
const exact = value => value == null ? none : String(value).replace(/\B(?=(\d{3})+$)/g, ",");
const bytes = value => value == null ? none : scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"], " ");
const share = value => value == null ? none : fixed(value * 100, value < 0.1 ? 1 : 0) + " %";

function micros(value) {
  if (!value) { return none; }
  if (value < 1000) { return fixed(value, 0) + " µs"; }
  if (value < 1e6) { return fixed(value / 1e3, value < 1e5 ? 1 : 0) + " ms"; }
  return fixed(value / 1e6, 1) + " s";
}

function span(seconds) {
  if (seconds == null) { return none; }
  if (seconds < 120) { return fixed(seconds, seconds < 10 ? 1 : 0) + " s"; }
  if (seconds < 7200) { return fixed(seconds / 60, 0) + " min"; }
  if (seconds < 172800) { return fixed(seconds / 3600, 0) + " h"; }
  return fixed(seconds / 86400, 0) + " days";
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const limit = name => !name || name === "none" ? none : name;
// The upper half of a configuration is the service's epoch, which numbers of JavaScript do not hold exactly together with the lower one.
const configuration = number => Math.floor(number / 2 ** 32) + "." + number % 2 ** 32;

const limitMeaning = {
  turn: "It waits for its turn: the processor or the network interface is the limit.",
  window: "It waits for the slowest receiver to read from its sockets.",
  rate: "It follows the rate at which the slowest receiver reads.",
  reader: "It waits for a subscriber's reader to take messages, or for packets that are missing there.",
  memory: "It waits until all subscribers hold what was sent, which fills its memory.",
  view: "It waits for a view, or for a flush barrier.",
  socket: "It waits for room in the system's send buffers."
};

// Everything that comes from nodes is set as text, never as markup.
// What others have written is shown without control characters and invisible ones, such as those that reverse the direction.
const shown = text => String(text).replace(/(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) { element.className = name; }
  if (text != null) { element.textContent = shown(text); }
  return element;
}

// Writes only what changes: a browser lays out nothing for the rest.
function setText(element, text) {
  text = shown(text);
  if (element.textContent !== text) { element.textContent = text; }
}
const byId = id => document.getElementById(id);
