// The members of a group as each has reported itself.
function groupState(row) {
  if (row.nodes.every(one => one.state === "none")) { return none; }
  return row.seekingMembers === 0 ? "all have it" : row.seekingMembers + (row.seekingMembers === 1 ? " member seeks it" : " members seek it");
}

function memberState(member) {
  if (member.state === "seeks") { return "seeks it from " + (member.donor ?? "a member that has it"); }
  return member.state === "none" ? none : member.takers ? "has it, gives it to " + member.takers : "has it";
}

function fillGroup(element, row, spec) {
  const cell = make("td");
  cell.colSpan = spec.columns.length;
  const part = make("section", "contract");
  const table = make("table", "fields");
  table.append(make("caption", "", "members"));
  const line = (kind, texts) => {
    const one = make("tr");
    one.append(...texts.map(text => make(kind, "", text)));
    return one;
  };
  const head = make("thead");
  head.append(line("th", ["rank", "node", "view", "waits", "state"]));
  const body = make("tbody");
  for (const member of row.nodes) {
    const waits = member.waitingMessages === 0 ? none
      : exact(member.waitingMessages) + " for their order by " + (member.orderer ?? "the oldest member");
    body.append(line("td", [member.rank == null ? none : String(member.rank), member.name, member.view == null ? none : configuration(member.view),
      waits, memberState(member)]));
  }
  table.append(head, body);
  part.append(table);
  if (row.nodes.length < row.members) { part.append(make("p", "holders", row.members - row.nodes.length + " more have not reported it.")); }
  cell.append(part);
  element.replaceChildren(cell);
}
