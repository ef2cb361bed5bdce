// What a topic carries: its versions, the nodes that have each, and their fields and enums. It is asked for when the topic's row is opened,
// and again while it stays open.
const contracts = new Map();
const contractSeconds = 10;
const mostContracts = 100;
const mostFields = 300;

function fillContract(element, row, spec) {
  let known = contracts.get(row.topic);
  if (!known) {
    if (contracts.size >= mostContracts) { contracts.clear(); }
    known = { cell: make("td"), askedAt: -Infinity, isAsking: false };
    known.cell.colSpan = spec.columns.length;
    known.cell.append(make("p", "remark", "Asking for the contract."));
    contracts.set(row.topic, known);
  }
  if (element.firstElementChild !== known.cell) { element.replaceChildren(known.cell); }
  if (!known.isAsking && performance.now() - known.askedAt > contractSeconds * 1000) { askContract(row.topic, known); }
}

async function askContract(topic, known) {
  known.isAsking = true;
  let text;
  try {
    const answer = await fetch("topic.json?name=" + encodeURIComponent(topic), { cache: "no-store" });
    text = await answer.text();
    if (!answer.ok) { throw new Error(text.trim()); }
    // What has not changed keeps its elements, and what is marked there.
    if (text !== known.text) { known.cell.replaceChildren(...JSON.parse(text).versions.map(buildVersion)); }
  } catch (error) {
    known.cell.replaceChildren(make("p", "remark", error.message || "The dashboard does not answer."));
    text = null;
  }
  known.text = text;
  known.isAsking = false;
  known.askedAt = performance.now();
}

function buildVersion(version) {
  const part = make("section", "contract");
  const kind = version.kind === "any" ? "takes any payload" : version.kind;
  part.append(make("h3", "", version.type === kind ? version.type : version.type + " (" + kind + ")"));
  const names = new Map(latest.report.nodes.map(node => [node.node, node.name ?? node.address]));
  const holders = (version.nodeIds ?? []).map(id => names.has(id) ? names.get(id) + " (" + id + ")" : id);
  const count = version.nodes === 0 ? "closed by all nodes" : version.nodes === 1 ? "1 node" : version.nodes + " nodes";
  const more = version.nodes > holders.length ? ", …" : "";
  part.append(make("p", "holders", holders.length ? count + ": " + holders.join(", ") + more : count));
  if (version.fields.length) { part.append(buildFields(version, version.type, version.fields)); }
  for (const message of version.messages) { part.append(buildFields(version, message.name, message.fields)); }
  for (const each of version.enums ?? []) {
    const line = make("p", "enum");
    line.append(make("strong", "", (each.isFlags ? "flags " : "enum ") + each.name));
    line.append(" " + each.values.map(value => value.name + " = " + value.number).join(", "));
    part.append(line);
  }
  return part;
}

function buildFields(version, name, fields) {
  const table = make("table", "fields");
  table.append(make("caption", "", name));
  const body = make("tbody");
  for (const field of fields.slice(0, mostFields)) {
    const line = make("tr");
    const head = make("th", "", field.name);
    head.scope = "row";
    line.append(make("td", "c-number", String(field.number)), head, make("td", "", typeOf(version, field)));
    body.append(line);
  }
  table.append(body);
  if (fields.length > mostFields) { table.caption.append(", with " + (fields.length - mostFields) + " more fields"); }
  return table;
}

// As on the wire, and what it is in .NET where that says more.
function typeOf(version, field) {
  const held = field.message === 0 ? version.type : version.messages[field.message - 1]?.name;
  const wire = held ? field.type.replace("message", () => held) : field.type;
  const value = version.enums?.[field.enum]?.name ?? field.logicalType;
  const net = [field.logicalKeyType, value].filter(Boolean).join(", ");
  const nullable = field.nullable ? "?" : "";
  return net ? wire + " (" + net + nullable + ")" : wire + nullable;
}
