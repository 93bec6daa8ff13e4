// Recorded text reaches the page only through `node` and `shown`: as text, with invisible characters made visible.

const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function shown(text) {
  return String(text).replace(INVISIBLE, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `‹${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

function node(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = shown(text);
  return made;
}

function duration(us) {
  if (us < 9950) return `${(us / 1e3).toFixed(1)} ms`;
  if (us < 999500) return `${Math.round(us / 1e3)} ms`;
  if (us < 59950000) return `${(us / 1e6).toFixed(1)} s`;
  const seconds = Math.round(us / 1e6);
  return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
}

function size(octets) {
  if (octets < 1000) return `${octets} B`;
  if (octets < 999500) return `${(octets / 1e3).toFixed(1)} kB`;
  return `${(octets / 1e6).toFixed(1)} MB`;
}
