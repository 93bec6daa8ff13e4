// The page: the filter line, the list, and the selected event.

const pane = document.getElementById("detail");
const search = document.getElementById("search");
const counted = document.getElementById("counted");
const SLICE_MS = 12;
let fitting = [];
let round = 0;

function apply() {
  shownRows = fitting;
  if (folded.size) {
    const fits = new Uint8Array(rows.length);
    for (const at of fitting) fits[at] = 1;
    shownRows = fitting.filter((at) => !isFolded(rows[at], fits));
  }
  counted.textContent = `${shownRows.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  drawSoon();
}

// Searches the events in slices, so that typing stays responsive in a long recording.
function look() {
  const mine = ++round;
  const wanted = terms(search.value);
  const found = [];
  let at = 0;
  const slice = () => {
    if (mine !== round) return;
    const until = performance.now() + SLICE_MS;
    while (at < rows.length && performance.now() < until) {
      for (const end = Math.min(at + 64, rows.length); at < end; at++) if (fits(at, wanted)) found.push(at);
    }
    fitting = found;
    apply();
    document.body.classList.toggle("looking", at < rows.length);
    if (at < rows.length) setTimeout(slice);
  };
  list.scrollTop = 0;
  slice();
}

function detail() {
  if (selected < 0) return;
  const row = rows[selected];
  const [text, fields, note] = body(selected);
  const heading = node("h2", "", `${row[N]} ${SIGNS[row[DIR]]} ${title(row)}`);
  const parts = [heading, about(row)];
  for (const finding of findings.get(row[N]) || []) {
    parts.push(node("p", `finding ${finding.level}`, `▲ ${finding.rule} ${finding.message}`));
  }
  if (marks.has(row[N])) parts.push(node("p", "mark", `* marked: ${marks.get(row[N])}`));
  if (note) parts.push(node("p", "note", note));
  if (fields !== null) parts.push(tree(fields));
  if (text !== null) parts.push(message(text));
  pane.replaceChildren(...parts);
  pane.scrollTop = 0;
}

function about(row) {
  const line = node("p", "about", `+${duration(row[T])}, ${row[KIND]}, ${size(row[SIZE])}`);
  if (row[ID]) line.append(node("span", "", `, id ${row[ID]}`));
  if (row[TOOK] >= 0) line.append(node("span", "", `, ${duration(row[TOOK])}`));
  for (const [word, n] of [["pair", row[PAIR]], ["inside", row[PARENT]]]) {
    if (!n || !places.has(n)) continue;
    const button = node("button", "link", `${word} ${n}`);
    button.addEventListener("click", () => select(places.get(n)));
    line.append(" ", button);
  }
  return line;
}

function message(text) {
  if (!exact) {
    try {
      return tree(parse(text));
    } catch {
      // Not JSON, or truncated: show it unmodified.
    }
  }
  return node("pre", "", text);
}

function keys(event) {
  if (event.target === search) {
    if (event.key === "Escape" || event.key === "Enter") list.focus();
    return;
  }
  const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (Object.hasOwn(steps, event.key)) move(Math.max(Math.min(steps[event.key], rows.length), -rows.length));
  else if (event.key === "/") search.focus();
  else if (event.key === "f") foldAll();
  else if (event.key === "r") showExact();
  else if (event.key === "Enter" && selected >= 0 && rows[selected][SHAPE] === "request") fold(selected);
  else return;
  event.preventDefault();
}

function foldAll() {
  if (folded.size) folded.clear();
  else for (const row of rows) if (row[SHAPE] === "request") folded.add(row[N]);
  apply();
}

function showExact() {
  exact = !exact;
  detail();
}

document.getElementById("fold").addEventListener("click", foldAll);
document.getElementById("exact").addEventListener("click", showExact);
search.addEventListener("input", look);
document.addEventListener("keydown", keys);
space.addEventListener("pointerdown", press);
list.addEventListener("scroll", drawSoon);
addEventListener("resize", drawSoon);
for (const [name, text] of facts.head) {
  document.getElementById("facts-shown").append(node("span", "fact", `${name}: ${text}`));
}
look();
document.body.dataset.ready = "yes";
