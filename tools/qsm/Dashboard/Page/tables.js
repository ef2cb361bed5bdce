// The tables. A row keeps its elements from second to second, so that what is focused or marked stays so.
const mostRows = 500;
const settings = loadSettings();

function loadSettings() {
  const initial = { theme: "auto", tab: "nodes", sort: {} };
  try { return { ...initial, ...JSON.parse(localStorage.getItem("qsm-dashboard") || "{}") }; } catch { return initial; }
}

function saveSettings() {
  try { localStorage.setItem("qsm-dashboard", JSON.stringify(settings)); } catch { /* Not allowed here: it lasts as long as the page. */ }
}

// A column: title, what it is sorted by, its text, and: "name" (a text), how important it is on a narrow screen, and a tone.
const column = (title, key, text, more = {}) => ({ title, key, text, ...more });
const number = (title, name, format, more) => column(title, row => row[name] ?? -1, row => format(row[name]), more);

const stateText = { reported: "up", silent: "silent", unable: "no signs", invalid: "invalid", lost: "removed", left: "left" };
const stateTone = { reported: "good", silent: "bad", unable: "warn", invalid: "warn", lost: "bad", left: "idle" };

const tableSpecs = {
  nodes: {
    title: "Nodes", first: "rate", id: row => row.node, find: row => [row.name, row.node, row.address, row.machine, row.process, row.state, row.trouble],
    empty: "No nodes have joined.", detail: nodeDetail,
    columns: [
      column("node", row => row.name ?? row.address, row => row.name ?? row.address,
        { kind: "name", sub: row => row.name ? row.address + " " + row.node : row.node, id: "name" }),
      column("state", row => row.state, row => row.state === "silent" ? "silent " + span(row.silentSeconds) : row.state === "reported" && row.trouble ? "problem" : stateText[row.state],
        { kind: "state", tone: row => row.trouble ? "warn" : stateTone[row.state] }),
      column("out/s", row => row.publishedPerSecond ?? -1, row => count(row.publishedPerSecond), { id: "rate" }),
      number("in/s", "deliveredPerSecond", count),
      number("busy", "busyShare", share, { wide: 1, bar: row => row.busyShare }),
      number("queued", "publishQueueMessages", count, { wide: 2 }),
      number("pending", "pendingPackets", count, { wide: 1 }),
      number("ack", "ackMedianMicros", micros),
      number("ack 99 %", "ackP99Micros", micros, { wide: 1 }),
      number("token", "tokenMedianMicros", micros, { wide: 2 }),
      number("late 99 %", "alarmLatenessP99Micros", micros, { wide: 2 }),
      number("gc", "gcPauseMicros", micros, { wide: 1 }),
      number("memory", "packetMemoryBytes", bytes, { wide: 2 }),
      column("limit", row => row.limitShare ?? 0, row => row.limit && row.limit !== "none" && row.limitShare >= 0.005
        ? row.limit + " " + share(row.limitShare) : none, { kind: "limit", wide: 1, hint: row => limitMeaning[row.limit] })
    ]
  },
  topics: {
    title: "Topics", first: "rate", id: row => row.topic, find: row => [row.topic, row.limit], empty: "No topics are open.",
    detail: true, fill: fillContract,
    columns: [
      column("topic", row => row.topic, row => row.topic, { kind: "name", id: "name" }),
      column("out/s", row => row.publishedPerSecond, row => count(row.publishedPerSecond), { id: "rate" }),
      number("in/s", "deliveredPerSecond", count),
      number("subscribers", "subscribers", exact),
      number("nodes", "nodes", exact, { wide: 1 }),
      column("limit", row => row.limit, row => heldText(row.topic) ?? limit(row.limit), { kind: "limit", hint: row => limitMeaning[row.limit] })
    ]
  },
  regions: {
    title: "Regions and rings", first: "rate", id: row => row.region, find: row => [row.region, row.limit], empty: "There are no regions.",
    columns: [
      column("region", row => row.region, row => row.region, { kind: "name", id: "name" }),
      number("view", "view", exact, { wide: 1 }),
      number("members", "members", exact),
      number("age", "viewAgeSeconds", span, { wide: 1 }),
      number("open views", "openViews", exact, { wide: 2 }),
      column("out/s", row => row.sentPacketsPerSecond, row => count(row.sentPacketsPerSecond), { id: "rate" }),
      number("in/s", "receivedPacketsPerSecond", count),
      number("pending", "pendingPackets", count),
      number("missing", "missingPackets", count, { wide: 1 }),
      number("ack", "ackMicros", micros),
      number("ring token", "tokenMicros", micros, { wide: 1 }),
      column("limit", row => row.limit, row => limit(row.limit), { kind: "limit", wide: 1, hint: row => limitMeaning[row.limit] })
    ]
  },
  groups: {
    title: "Groups", first: "waiting", id: row => row.group, find: row => [row.group, row.orderer, ...row.nodes.map(one => one.name)],
    empty: "No groups are open.", detail: true, fill: fillGroup,
    columns: [
      column("group", row => row.group, row => row.group, { kind: "name", id: "name" }),
      number("view", "view", configuration, { wide: 1 }),
      number("members", "members", exact),
      column("orderer", row => row.orderer ?? "", row => row.orderer ?? none, { kind: "limit" }),
      column("waiting", row => row.waitingMessages + row.seekingMembers, row => count(row.waitingMessages), { id: "waiting" }),
      column("state", row => row.seekingMembers, groupState, { kind: "limit" })
    ]
  }
};
const tabNames = ["nodes", "topics", "regions", "waits", "groups"];
// Most clusters have no groups.
const isOffered = name => name !== "groups" || settings.tab === name || tables[name].rows.length > 0;
const tables = {};
let filterText = "";
// What was reported last.
let latest = null;

// To which rate a slow reader holds the topic, and on which node it is; the slowest, if several publishers are held.
function heldText(topic) {
  const held = (latest?.report.heldTopics ?? []).filter(one => one.topic === topic).sort((one, other) => one.messagesPerSecond - other.messagesPerSecond)[0];
  return held ? "held to " + (Math.round(held.messagesPerSecond * 10) / 10) + "/s by " + held.reader : null;
}

function nodeDetail(row) {
  const limits = row.limit && row.limit !== "none" ? row.limit + ", " + share(row.limitShare) + " of the time" : none;
  return [
    ["Traffic", [["Published", count(row.publishedPerSecond) + "/s"], ["Delivered", count(row.deliveredPerSecond) + "/s"],
      ["Bytes out", bytes(row.publishedBytesPerSecond) + "/s"], ["Bytes in", bytes(row.deliveredBytesPerSecond) + "/s"],
      ["Publish queue", exact(row.publishQueueMessages) + " messages, " + bytes(row.publishQueueBytes)], ["Limit", limits]]],
    ["Times", [["Acknowledge, median", micros(row.ackMedianMicros)], ["Acknowledge, 99 %", micros(row.ackP99Micros)],
      ["Token round trip", micros(row.tokenMedianMicros)], ["Aggregate", micros(row.aggregateMedianMicros)],
      ["Late alarms, 99 %", micros(row.alarmLatenessP99Micros)], ["GC pause", micros(row.gcPauseMicros)]]],
    ["Memory", [["Packet memory", bytes(row.packetMemoryBytes) + " of " + bytes(row.packetMemoryLimitBytes)],
      ["Retained", bytes(row.retentionBytes) + " of " + bytes(row.retentionLimitBytes)], ["Pending packets", exact(row.pendingPackets)],
      ["Core thread", share(row.busyShare) + " busy"], ["Long steps", exact(row.longSteps)], ["Quanta exceeded", exact(row.quantaExceeded)]]],
    ["Process", [["Machine", row.machine ?? none], ["Process", row.process ?? none], ["Process id", row.processId == null ? none : String(row.processId)],
      ["QuickSilver", row.version ?? none]]],
    ["Membership and repair", [["Regions", exact(row.regionCount)], ["Topics", exact(row.topicCount)],
      ["Views", exact(row.views) + ", " + exact(row.supersededViews) + " superseded"],
      ["Repair requests", exact(row.repairRequests)], ["Repairs", exact(row.repairs)], ["Collective NAKs", exact(row.collectiveNaks)],
      ["Dropped by the system", exact(row.kernelDrops)], ["Messages lost for ever", exact(row.gaps)]]]
  ];
}

function buildTables() {
  for (const name of tabNames) {
    const tab = make("button", "tab");
    tab.type = "button";
    tab.id = "tab-" + name;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "panel-" + name);
    const badge = make("span", "badge", "0");
    tab.append(make("span", "", tableSpecs[name]?.title ?? "Who waits for whom"), badge);
    tab.addEventListener("click", () => showTab(name));
    byId("tabs").append(tab);
    const panel = make("div", "scroll");
    panel.id = "panel-" + name;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
    byId("panels").append(panel);
    tables[name] = { name, spec: tableSpecs[name], tab, badge, panel, rows: [], shown: new Map(), open: new Set(), current: null };
    if (tableSpecs[name]) { buildTable(tables[name]); }
  }
  byId("tabs").addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const offered = tabNames.filter(isOffered);
      const next = offered[(offered.indexOf(settings.tab) + step + offered.length) % offered.length];
      showTab(next);
      tables[next].tab.focus();
      event.preventDefault();
    }
  });
  showTab(tabNames.includes(settings.tab) ? settings.tab : "nodes");
}

function buildTable(table) {
  const { spec } = table;
  const element = make("table");
  element.append(make("caption", "sr", spec.title));
  const head = make("tr");
  table.heads = spec.columns.map(one => {
    const cell = make("th", classOf(one));
    cell.scope = "col";
    const sort = make("button", "sort", one.title);
    sort.type = "button";
    sort.addEventListener("click", () => sortBy(table, one));
    cell.append(sort);
    head.append(cell);
    return cell;
  });
  const top = make("thead");
  top.append(head);
  table.body = make("tbody");
  element.append(top, table.body);
  table.note = make("p", "note");
  table.panel.append(element, table.note);
  table.body.addEventListener("focusin", event => {
    const row = event.target.closest("tr.row");
    if (row) { setCurrent(table, row.dataset.id); }
  });
}

const classOf = one => (one.kind ? "c-" + one.kind : "c-number") + (one.wide ? " wide" + one.wide : "");
const sortKey = one => one.id ?? one.title;

function sortOf(table) {
  const saved = settings.sort[table.name];
  const one = table.spec.columns.find(each => sortKey(each) === (saved?.by ?? table.spec.first)) ?? table.spec.columns[0];
  return { one, up: saved?.up ?? one.kind === "name" };
}

function sortBy(table, one) {
  const now = sortOf(table);
  const up = now.one === one ? !now.up : one.kind === "name" || one.kind === "state";
  settings.sort[table.name] = { by: sortKey(one), up };
  saveSettings();
  fillTable(table);
  say(table.spec.title + " sorted by " + one.title + ", " + (up ? "ascending" : "descending"));
}

function compare(a, b) {
  return typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
}

function passes(texts) {
  return !filterText || texts.some(text => text && String(text).toLowerCase().includes(filterText));
}

function fillTable(table) {
  const { spec, body } = table;
  const { one, up } = sortOf(table);
  table.heads.forEach((cell, i) => {
    cell.setAttribute("aria-sort", spec.columns[i] !== one ? "none" : up ? "ascending" : "descending");
  });
  // Those that are not up come first: they are what somebody looks for.
  const urgency = row => row.state && row.state !== "reported" && !row.departed ? 0 : row.departed ? 2 : 1;
  const rows = table.rows.filter(row => passes(spec.find(row))).sort((a, b) =>
    urgency(a) - urgency(b) || (up ? 1 : -1) * compare(one.key(a), one.key(b)) || compare(spec.id(a), spec.id(b)));
  const kept = new Set();
  let place = body.firstElementChild;
  for (const row of rows.slice(0, mostRows)) {
    const id = spec.id(row);
    kept.add(id);
    let shown = table.shown.get(id);
    if (!shown) {
      shown = buildRow(table, id);
      table.shown.set(id, shown);
    }
    fillRow(table, shown, row);
    for (const element of shown.detail ? [shown.row, shown.detail] : [shown.row]) {
      if (element === place) { place = place.nextElementSibling; }
      else { body.insertBefore(element, place); }
    }
  }
  for (const [id, shown] of table.shown) {
    if (!kept.has(id)) {
      shown.row.remove();
      shown.detail?.remove();
      table.shown.delete(id);
    }
  }
  if (!kept.has(table.current)) { setCurrent(table, rows.length ? spec.id(rows[0]) : null); }
  const more = rows.length - mostRows;
  setText(table.note, !latest ? "Waiting for the first answer." : !table.rows.length ? spec.empty : !rows.length ? "Nothing contains “" + filterText + "”."
    : more > 0 ? more + " more. Filter to see them." : "");
  table.note.hidden = !table.note.textContent;
}

function buildRow(table, id) {
  const row = make("tr", "row");
  row.dataset.id = id;
  row.tabIndex = -1;
  const cells = table.spec.columns.map((one, i) => {
    const cell = make(i === 0 ? "th" : "td", classOf(one));
    if (i === 0) { cell.scope = "row"; }
    const value = make("span", "text");
    if (one.kind === "state") { cell.append(make("span", "dot")); }
    if (i === 0 && table.spec.detail) {
      const toggle = make("button", "toggle");
      toggle.type = "button";
      toggle.tabIndex = -1;
      toggle.append(value);
      toggle.addEventListener("click", () => toggleRow(table, id));
      cell.append(toggle);
    } else {
      cell.append(value);
    }
    if (one.sub) { cell.append(make("span", "sub")); }
    row.append(cell);
    return cell;
  });
  return { row, cells, detail: null };
}

function fillRow(table, shown, row) {
  const { spec } = table;
  spec.columns.forEach((one, i) => {
    const cell = shown.cells[i];
    setText(cell.querySelector(".text"), one.text(row));
    if (one.sub) { setText(cell.querySelector(".sub"), one.sub(row)); }
    if (one.tone) { cell.dataset.tone = one.tone(row); }
    if (one.bar) { cell.style.setProperty("--bar", Math.round((one.bar(row) ?? 0) * 100) + "%"); }
    const hint = one.hint?.(row) ?? (one.kind === "name" ? one.text(row) : "");
    if (cell.title !== hint) { cell.title = hint; }
  });
  shown.row.classList.toggle("departed", !!row.departed);
  if (!spec.detail) { return; }
  const isOpen = table.open.has(spec.id(row));
  shown.row.querySelector(".toggle").setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) {
    shown.detail?.remove();
    shown.detail = null;
    return;
  }
  shown.detail ??= make("tr", "detail");
  (spec.fill ?? fillDetail)(shown.detail, row, spec);
}

function fillDetail(element, row, spec) {
  const cell = make("td");
  cell.colSpan = spec.columns.length;
  const remark = row.trouble ?? (row.state === "silent" ? "Silent for " + span(row.silentSeconds) + ", last heard "
    + span(row.heardSecondsAgo) + " ago." : row.state === "unable" ? "It is of an older version, which has no vital signs."
    : row.departed ? (row.state === "lost" ? "The service removed it after silence" : "It left") + " at " + clock.format(row.departed * 1000) + "." : "");
  if (remark) { cell.append(make("p", "remark", remark)); }
  if (row.state === "reported") {
    const grid = make("div", "detail-grid");
    for (const [title, figures] of spec.detail(row)) {
      const group = make("div");
      group.append(make("h3", "", title));
      const list = make("dl");
      for (const [name, value] of figures) {
        const pair = make("div");
        pair.append(make("dt", "", name), make("dd", "", value));
        list.append(pair);
      }
      group.append(list);
      grid.append(group);
    }
    cell.append(grid);
  }
  element.replaceChildren(cell);
}

function toggleRow(table, id) {
  if (!table.spec?.detail) { return; }
  if (!table.open.delete(id)) { table.open.add(id); }
  fillTable(table);
}

function setCurrent(table, id) {
  if (table.current === id) { return; }
  const before = table.shown.get(table.current)?.row;
  if (before) { before.tabIndex = -1; }
  table.current = id;
  const now = table.shown.get(id)?.row;
  if (now) { now.tabIndex = 0; }
}

function moveRow(step) {
  const table = tables[settings.tab];
  const rows = [...table.panel.querySelectorAll(".row")];
  if (!rows.length) { return; }
  const at = rows.indexOf(document.activeElement?.closest?.(".row"));
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function showTab(name) {
  settings.tab = name;
  saveSettings();
  for (const each of tabNames) {
    const isShown = each === name;
    tables[each].tab.setAttribute("aria-selected", String(isShown));
    tables[each].tab.tabIndex = isShown ? 0 : -1;
    tables[each].panel.hidden = !isShown;
    tables[each].tab.hidden = !isOffered(each);
  }
  fillShown();
}

function fillShown() {
  const table = tables[settings.tab];
  if (table.spec) { fillTable(table); } else { fillWaits(table); }
}

function fillWaits(table) {
  const waits = table.rows.filter(wait => passes([wait.name, wait.node, wait.address, wait.description, wait.waitsFor]));
  const note = !latest ? "Waiting for the first answer." : table.rows.length ? "Nothing contains “" + filterText + "”." : "Nobody waits for anybody.";
  const text = waits.length ? JSON.stringify(waits) : note;
  if (table.written === text) { return; }
  table.written = text;
  if (!waits.length) {
    table.panel.replaceChildren(make("p", "note", note));
    return;
  }
  // The row that has the focus keeps it.
  const focused = [...table.panel.querySelectorAll(".row")].indexOf(document.activeElement);
  const list = make("ul", "waits");
  for (const wait of waits) {
    const item = make("li", "row wait");
    item.dataset.tone = wait.severity;
    item.tabIndex = -1;
    const head = make("p", "wait-head");
    head.append(make("span", "dot"), make("strong", "", wait.name ?? wait.address), make("span", "sub", (wait.name ? wait.address + " " : "") + wait.node));
    if (wait.seconds != null) { head.append(make("span", "sub", "for " + span(wait.seconds))); }
    item.append(head, make("p", "wait-what", wait.description));
    for (const [name, value] of [["Waits for", wait.waitsFor], ["What to do", wait.remedy]]) {
      if (value) {
        const line = make("p", "wait-line");
        line.append(make("span", "wait-key", name), make("span", "", value));
        item.append(line);
      }
    }
    list.append(item);
  }
  table.panel.replaceChildren(list);
  list.children[focused]?.focus();
}

function say(text) { byId("spoken").textContent = text; }
