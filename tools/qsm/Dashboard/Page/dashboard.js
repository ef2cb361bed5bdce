// What is reported comes as events. What the user does is sent to no server.
const cardSpecs = [
  ["out", "Published", signs => count(signs.point.published), "/s", signs => bytes(signs.point.publishedBytes) + "/s"],
  ["in", "Delivered", signs => count(signs.point.delivered), "/s", signs => bytes(signs.point.deliveredBytes) + "/s"],
  ["nodes", "Nodes", signs => exact(signs.report.nodeCount), "", signs => {
    const silent = signs.report.nodes.filter(node => node.state === "silent").length;
    const others = signs.report.nodes.filter(node => node.state !== "reported" && node.state !== "silent").length;
    const gone = signs.departed.length;
    return [[silent, "silent"], [others, "without signs"], [gone, "gone"]].filter(([number]) => number)
      .map(([number, what]) => number + " " + what).join(" · ") || "all reported";
  }, signs => signs.report.nodes.some(node => node.state === "silent") ? "bad" : ""],
  ["topics", "Topics", signs => exact(signs.report.topicCount), "", signs => exact(signs.report.regions.length) + (signs.report.regions.length === 1 ? " region" : " regions")],
  ["waits", "Waiting", signs => exact(signs.waits.length), "", signs => {
    const limited = signs.report.nodes.filter(node => node.limit && node.limit !== "none" && node.limitShare >= 0.005).length;
    return limited + (limited === 1 ? " sender limited" : " senders limited");
  }, signs => signs.waits.length ? signs.waits.some(wait => wait.severity === "bad") ? "bad" : "warn" : ""],
  ["ack", "Acknowledge 99 %", signs => micros(signs.point.ackP99), "", signs => "median " + micros(signs.point.ackMedian)],
  ["token", "Token round trip", signs => micros(signs.point.token), "", signs => "GC pause " + micros(signs.point.gcPause)],
  ["repairs", "Repairs", signs => count(signs.point.repairs), "/s", signs => count(signs.point.drops) + " dropped/s",
    signs => signs.point.drops > 0 ? "warn" : ""]
];
const cards = {};
const themes = ["auto", "light", "dark"];
const titles = { auto: "Auto", light: "Light", dark: "Dark" };
const staleSeconds = 6;
const hiddenSeconds = 60;
const longestRetry = 10;
let isPaused = false;
let cameAt = 0;
let source = null;
let retrySeconds = 1;
let retryTimer = 0;
let hideTimer = 0;
let trouble = null;

function buildCards() {
  for (const [name, title, , unit] of cardSpecs) {
    const card = make("div", "card");
    card.id = "card-" + name;
    const value = make("p", "card-value");
    const figure = make("span", "figure", none);
    value.append(figure);
    if (unit) { value.append(make("span", "unit", unit)); }
    const more = make("p", "card-more");
    card.append(make("h2", "card-title", title), value, more);
    byId("cards").append(card);
    cards[name] = { card, figure, more };
  }
}

function show(signs) {
  const { report } = signs;
  setText(byId("cluster"), report.cluster);
  document.title = (signs.waits.length ? "(" + signs.waits.length + ") " : "") + shown(report.cluster) + " · QuickSilver";
  setText(byId("about"), "service " + report.service + " · up " + span(report.serviceSeconds) + " · configuration "
    + configuration(report.configuration) + " · " + report.observers + (report.observers === 1 ? " observer" : " observers"));
  const time = new Date(report.time);
  setText(byId("time"), clock.format(time));
  byId("time").dateTime = report.time;
  for (const [name, , figure, , more, tone] of cardSpecs) {
    setText(cards[name].figure, figure(signs));
    setText(cards[name].more, more(signs));
    cards[name].card.dataset.tone = tone?.(signs) ?? "";
  }
  const departed = signs.departed.map(one => ({
    node: one.node, name: one.name, address: one.address, state: one.wasSilent ? "lost" : "left", departed: one.at
  }));
  const present = new Set(report.nodes.map(node => node.node));
  tables.nodes.rows = [...report.nodes, ...departed.filter(one => !present.has(one.node))];
  tables.topics.rows = report.topics;
  tables.regions.rows = report.regions;
  tables.waits.rows = signs.waits;
  tables.groups.rows = report.groups;
  for (const name of tabNames) {
    setText(tables[name].badge, exact(name === "nodes" ? report.nodes.length : name === "topics" ? report.topicCount : tables[name].rows.length));
    tables[name].badge.dataset.tone = name === "waits" && signs.waits.length ? "warn" : "";
    tables[name].tab.hidden = !isOffered(name);
  }
  const [first] = signs.waits;
  byId("strip").hidden = !first;
  if (first) {
    byId("strip").dataset.tone = signs.waits.some(wait => wait.severity === "bad") ? "bad" : "warn";
    setText(byId("strip-count"), signs.waits.length === 1 ? "1 waits" : signs.waits.length + " wait");
    setText(byId("strip-text"), (first.name ?? first.address) + ": " + first.description);
  }
  fillShown();
}

function setStatus(state, text) {
  byId("status").dataset.state = state;
  setText(byId("status-text"), text);
}

function setBanner(text, tone) {
  const banner = byId("banner");
  if (text) { banner.dataset.tone = tone; setText(banner, text); }
  banner.hidden = !text;
}

function showStatus() {
  const silence = (performance.now() - cameAt) / 1000;
  if (!source || source.readyState === EventSource.CLOSED) { return; }
  if (trouble) {
    setStatus("bad", "No answer");
    setBanner(trouble.reason + " The figures are of the last answer. Trying again.", "bad");
  } else if (!latest || source.readyState === EventSource.CONNECTING) {
    setStatus("wait", "Connecting");
  } else if (silence > staleSeconds) {
    setStatus("bad", "Silent");
    setBanner("The dashboard has reported nothing for " + span(silence) + ".", "bad");
  } else {
    setStatus(isPaused ? "wait" : "good", isPaused ? "Paused" : "Live");
    setBanner("");
  }
}

function connect() {
  clearTimeout(retryTimer);
  source?.close();
  source = new EventSource("events");
  source.addEventListener("history", event => {
    retrySeconds = 1;
    addPoints(JSON.parse(event.data).points);
    if (!isPaused && points.length) { updateCharts(); }
  });
  source.addEventListener("signs", event => {
    cameAt = performance.now();
    trouble = null;
    latest = JSON.parse(event.data);
    addPoints([latest.point]);
    if (!isPaused) { update(); }
    showStatus();
  });
  source.addEventListener("trouble", event => {
    cameAt = performance.now();
    trouble = JSON.parse(event.data);
    showStatus();
  });
  source.addEventListener("error", () => {
    source.close();
    retry();
  });
}

// An event source does not tell why it ended; a request for the signs does.
async function retry() {
  let why = "The dashboard does not answer: it has ended, or the network to it is down.";
  try {
    const answer = await fetch("signs.json", { cache: "no-store" });
    if (answer.status === 401) { why = "The dashboard was started again with another token. Open its new link, or load this page again to sign in."; }
    else if (!answer.ok) { why = (await answer.text()).trim(); }
    else { why = "The connection was closed."; }
  } catch { /* That it does not answer is said. */ }
  const seconds = retrySeconds;
  retrySeconds = Math.min(longestRetry, retrySeconds * 2);
  setStatus("bad", "Disconnected");
  setBanner(why + " Trying again in " + seconds + " s.", "bad");
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, seconds * 1000);
}

function update() {
  show(latest);
  updateCharts();
}

function togglePause() {
  isPaused = !isPaused;
  byId("pause").setAttribute("aria-pressed", String(isPaused));
  document.documentElement.classList.toggle("paused", isPaused);
  if (!isPaused && latest) { update(); }
  showStatus();
}

function setTheme(theme) {
  settings.theme = theme;
  saveSettings();
  document.documentElement.dataset.theme = theme;
  setText(byId("theme-label"), titles[theme]);
  byId("theme").setAttribute("aria-label", "Theme: " + titles[theme]);
  if (points.length) { redrawCharts(); }
}

const nextTheme = () => setTheme(themes[(themes.indexOf(settings.theme) + 1) % themes.length]);

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) { return; }
  const isTyping = event.target === byId("filter");
  if (event.key === "Escape" && isTyping) {
    if (byId("filter").value) { byId("filter").value = ""; onFilter(); } else { byId("filter").blur(); }
    return;
  }
  if (isTyping && event.key !== "ArrowDown") { return; }
  const row = event.target.closest?.(".row");
  const tab = "12345".indexOf(event.key);
  if (event.key === "/") { byId("filter").focus(); byId("filter").select(); }
  else if (tab >= 0 && event.key.length === 1 && isOffered(tabNames[tab])) { showTab(tabNames[tab]); }
  else if (event.key === "j" || (event.key === "ArrowDown" && (row || isTyping))) { moveRow(1); }
  else if (event.key === "k" || (event.key === "ArrowUp" && row)) { moveRow(-1); }
  else if (event.key === "Enter" && row === event.target && row.dataset.id !== undefined) { toggleRow(tables[settings.tab], row.dataset.id); }
  else if (event.key === "t") { nextTheme(); }
  else if (event.key === "p") { togglePause(); }
  else if (event.key === "?") { byId("keys").showModal(); }
  else { return; }
  event.preventDefault();
}

function onFilter() {
  filterText = byId("filter").value.trim().toLowerCase();
  fillShown();
}

// A page that nobody sees asks for nothing after a while.
function onVisibility() {
  clearTimeout(hideTimer);
  if (document.hidden) {
    hideTimer = setTimeout(() => {
      clearTimeout(retryTimer);
      source?.close();
      source = null;
    }, hiddenSeconds * 1000);
  } else if (!source) {
    setStatus("wait", "Connecting");
    connect();
  }
}

buildCards();
buildCharts();
buildTables();
setTheme(themes.includes(settings.theme) ? settings.theme : "auto");
byId("pause").addEventListener("click", togglePause);
byId("theme").addEventListener("click", nextTheme);
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("strip").addEventListener("click", () => { showTab("waits"); tables.waits.tab.focus(); });
byId("filter").addEventListener("input", onFilter);
document.addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", onVisibility);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (points.length) { redrawCharts(); } });
setInterval(showStatus, 1000);
connect();
