// Only the visible rows are drawn, so a hundred thousand events are as fast as a hundred.

const HEIGHT = 22;
const BEYOND = 10;
const SIGNS = { send: "→", recv: "←", local: "▪" };
const list = document.getElementById("list");
const space = document.getElementById("space");

let shownRows = [];
let selected = -1;
let exact = false;
const folded = new Set();

// Whether an event is hidden in a folded request that is shown itself.
function isFolded(row, fits) {
  let outer = owner(row);
  for (let depth = 0; outer && depth < 16; depth++) {
    const at = places.get(outer);
    if (at === undefined) return false;
    if (folded.has(outer) && fits[at]) return true;
    const next = owner(rows[at]);
    if (next === outer) return false;
    outer = next;
  }
  return false;
}

let waiting = false;
function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function draw() {
  space.style.height = `${shownRows.length * HEIGHT}px`;
  const first = Math.max(Math.floor(list.scrollTop / HEIGHT) - BEYOND, 0);
  const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + BEYOND, shownRows.length);
  const lines = [];
  for (let at = first; at < last; at++) lines.push(line(shownRows[at], at));
  space.replaceChildren(...lines);
}

function line(at, position) {
  const row = rows[at];
  const made = node("div", `row ${row[DIR]} ${row[KIND]} ${row[STATE]}`);
  made.style.top = `${position * HEIGHT}px`;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", String(at === selected));
  if (owner(row)) made.classList.add("within");
  const fold = node("span", "fold");
  if (row[SHAPE] === "request") fold.textContent = folded.has(row[N]) ? "▸" : "▾";
  made.append(
    fold,
    node("span", "n", row[N]),
    node("span", "t", `+${duration(row[T])}`),
    node("span", "dir", SIGNS[row[DIR]]),
    node("span", "title", title(row)),
  );
  if (marks.has(row[N])) made.append(node("span", "mark", `* ${marks.get(row[N]) || "marked"}`));
  if (row[FOUND]) made.append(node("span", "found", `▲${row[FOUND]}`));
  if (row[STATE] !== "plain" && row[STATE] !== "done") made.append(node("span", "state", row[STATE]));
  if (row[TOOK] >= 0) made.append(node("span", "took", duration(row[TOOK])));
  if (row[SIZE]) made.append(node("span", "size", size(row[SIZE])));
  made.dataset.at = at;
  return made;
}

// Rows are recreated on every change, so the press counts: its release may hit another row.
function press(event) {
  const made = event.target.closest(".row");
  if (made === null) return;
  const at = Number(made.dataset.at);
  if (event.target.className === "fold" && rows[at][SHAPE] === "request") fold(at);
  else select(at);
}

function fold(at) {
  if (!folded.delete(rows[at][N])) folded.add(rows[at][N]);
  apply();
}

function select(at) {
  selected = at;
  const position = shownRows.indexOf(at);
  if (position >= 0) {
    const top = position * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
  }
  draw();
  detail();
}

function move(step) {
  if (!shownRows.length) return;
  const position = shownRows.indexOf(selected);
  select(shownRows[Math.min(Math.max(position + step, 0), shownRows.length - 1)]);
}
