// The filter line: all terms must match, `-` negates one. A small part of the interface's filter language.

const KEYS = {
  method: (row, value) => like(row[METHOD], value),
  name: (row, value) => like(row[NAME], value),
  kind: (row, value) => row[KIND] === value || row[SHAPE] === value,
  dir: (row, value) => row[DIR] === value,
  status: (row, value) => row[STATE] === value,
  id: (row, value) => row[ID].toLowerCase() === value,
  n: (row, value) => between(row[N], value),
  duration: (row, value) => row[TOOK] >= 0 && beyond(row[TOOK] / 1000, value),
  finding: (row, value) => row[FOUND] > 0 && (findings.get(row[N]) || []).some((each) => like(each.rule, value)),
  mark: (row, value) => marks.has(row[N]) && (value === "*" || marks.get(row[N]).toLowerCase().includes(value)),
};

function like(text, pattern) {
  const parts = pattern.split("*");
  let rest = text.toLowerCase();
  if (parts.length === 1) return rest === pattern;
  if (!rest.startsWith(parts[0])) return false;
  rest = rest.slice(parts[0].length);
  for (const part of parts.slice(1, -1)) {
    const at = rest.indexOf(part);
    if (at < 0) return false;
    rest = rest.slice(at + part.length);
  }
  return rest.endsWith(parts[parts.length - 1]);
}

function between(number, value) {
  const [first, last] = value.split("-");
  return number >= Number(first) && number <= Number(value.includes("-") ? last || Infinity : first);
}

// `>500` or `<2`, in milliseconds; with `s` in seconds.
function beyond(ms, value) {
  const found = /^([<>]?)=?([0-9.]+)(ms|s)?$/.exec(value);
  if (!found) return false;
  const limit = Number(found[2]) * (found[3] === "s" ? 1000 : 1);
  return found[1] === "<" ? ms < limit : ms > limit;
}

function terms(source) {
  const found = [];
  for (const [, minus, key, quoted, plain] of source.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = (quoted === undefined ? plain : quoted).toLowerCase();
    const known = key !== undefined && Object.hasOwn(KEYS, key);
    found.push({
      wanted: minus !== "-",
      fits: known ? KEYS[key] : null,
      value: known || key === undefined ? value : `${key}:${value}`,
    });
  }
  return found.sort((one, other) => (one.fits ? 0 : 1) - (other.fits ? 0 : 1));
}

function contains(at, value) {
  const row = rows[at];
  if (title(row).toLowerCase().includes(value)) return true;
  const [text, fields] = body(at);
  return (text !== null && text.toLowerCase().includes(value)) ||
    (fields !== null && JSON.stringify(fields).toLowerCase().includes(value));
}

function fits(at, wanted) {
  return wanted.every((term) => (term.fits ? term.fits(rows[at], term.value) : contains(at, term.value)) === term.wanted);
}
