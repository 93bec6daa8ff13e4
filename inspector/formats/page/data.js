// The page's data: a row for each event, read at the start, and bodies, read in blocks when they are selected.

const [N, T, DIR, KIND, SHAPE, STATE, METHOD, NAME, ID, PAIR, PARENT, SIZE, TOOK, FOUND] = Array(14).keys();
const KEPT_BLOCKS = 8;

const read = (block) => JSON.parse(block.textContent);
const facts = read(document.getElementById("facts"));
const rows = [];
const starts = [];
for (const block of document.querySelectorAll("script.rows")) {
  starts.push(rows.length);
  for (const row of read(block)) rows.push(row);
  block.remove();
}
const blocks = [...document.querySelectorAll("script.bodies")];
const opened = new Map();
const places = new Map(rows.map((row, at) => [row[N], at]));
const findings = new Map();
for (const finding of facts.findings) {
  if (!findings.has(finding.n)) findings.set(finding.n, []);
  findings.get(finding.n).push(finding);
}
const marks = new Map(Object.entries(facts.marks).map(([n, note]) => [Number(n), note]));

// The body of the event at an index: its text or null, its fields or null, and its notes.
function body(at) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  let found = opened.get(low);
  if (found === undefined) {
    found = read(blocks[low]);
    opened.set(low, found);
    if (opened.size > KEPT_BLOCKS) opened.delete(opened.keys().next().value);
  }
  return found[at - starts[low]];
}

// The request that an event belongs to; 0 without one.
function owner(row) {
  return row[SHAPE] === "request" ? row[PARENT] : row[PAIR] || row[PARENT];
}

function title(row) {
  const name = row[NAME] ? ` ${row[NAME]}` : "";
  if (row[SHAPE] === "request" || row[SHAPE] === "notification") return row[METHOD] + name;
  if (row[SHAPE] === "result" || row[SHAPE] === "error") {
    return row[PAIR] ? `${row[SHAPE]} of ${row[PAIR]} ${row[METHOD]}` : row[SHAPE];
  }
  return (row[SHAPE] || row[KIND]) + name;
}
