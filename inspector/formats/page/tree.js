// JSON as a folding tree. Branches are created when they are opened, long ones in parts.

const PART = 200;
const OPEN_LEVELS = 2;

// A number that the browser cannot represent, with its digits.
class Exact {
  constructor(source) {
    this.source = source;
  }
}

// JSON with every number as written, if the browser reports the source; otherwise as parsed.
function parse(text) {
  return JSON.parse(text, (key, value, context) => {
    if (typeof value !== "number" || context === undefined || String(value) === context.source) return value;
    return new Exact(context.source);
  });
}

function tree(value) {
  const root = node("div", "tree");
  root.append(branch(null, value, 0));
  return root;
}

function branch(key, value, depth) {
  const line = node("div", "node");
  const label = node("span", "label");
  if (key !== null) label.append(node("span", "key", typeof key === "number" ? key : JSON.stringify(key)), ": ");
  if (value instanceof Exact) {
    label.append(node("span", "number", value.source));
    line.append(label);
    return line;
  }
  if (value === null || typeof value !== "object") {
    label.append(node("span", value === null ? "word" : typeof value, JSON.stringify(value)));
    line.append(label);
    return line;
  }
  const keys = Array.isArray(value) ? null : Object.keys(value);
  const length = keys === null ? value.length : keys.length;
  const inside = node("div", "inside");
  const fold = node("button", "fold");
  const amount = `${length} ${keys === null ? "item" : "member"}${length === 1 ? "" : "s"}`;
  label.append(node("span", "amount", keys === null ? `[${amount}]` : `{${amount}}`));
  let made = 0;
  const more = () => {
    inside.querySelector(":scope > button.more")?.remove();
    const end = Math.min(made + PART, length);
    for (; made < end; made++) {
      const inner = keys === null ? made : keys[made];
      inside.append(branch(inner, value[inner], depth + 1));
    }
    if (made < length) {
      const button = node("button", "more", `${length - made} more`);
      button.addEventListener("click", more);
      inside.append(button);
    }
  };
  const set = (open) => {
    if (open && made === 0) more();
    inside.hidden = !open;
    fold.textContent = open ? "▾" : "▸";
    fold.setAttribute("aria-expanded", String(open));
  };
  fold.addEventListener("click", () => set(inside.hidden));
  line.append(fold, label, inside);
  set(depth < OPEN_LEVELS && length > 0);
  return line;
}
