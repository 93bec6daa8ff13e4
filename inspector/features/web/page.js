// What textual-serve's script leaves out: the size of the font, keys that a browser or a phone keeps, and the end.
"use strict";

const COLUMNS = 60; // Fewer columns leave no room for the form of a call.
const CELL = 0.602; // Width of a cell, in font sizes.
const [SMALLEST, USUAL] = [9, 15];
const LOST = "The connection to inspector web is lost. See whether it still runs on its terminal.";

const terminal = document.getElementById("terminal");
const ctrl = document.getElementById("ctrl");
const fitting = Math.floor((10 * window.innerWidth) / COLUMNS / CELL) / 10;
terminal.dataset.fontSize = Math.max(SMALLEST, Math.min(USUAL, fitting));
terminal.dataset.sessionWebsocketUrl = new URL("session", location.href).href.replace(/^http/, "ws");

let socket;
let reason = LOST;

function type(text) {
  socket?.send(JSON.stringify(["stdin", text]));
}

function holdCtrl(held) {
  ctrl.setAttribute("aria-pressed", held);
}

// The script makes one connection, and shows neither it nor its end to the page.
window.WebSocket = class extends WebSocket {
  constructor(url) {
    super(url);
    socket = this;
    this.addEventListener("open", () => {
      const input = document.querySelector(".xterm-helper-textarea");
      input.blur();
      input.focus();
    });
    this.addEventListener("message", ({ data }) => {
      const [kind, value] = typeof data === "string" ? JSON.parse(data) : [];
      if (kind === "ended") reason = value;
    });
    this.addEventListener("close", () => {
      document.getElementById("reason").textContent = reason;
      document.getElementById("ended").showModal();
    });
  }

  send(text) {
    const [kind, value] = JSON.parse(text);
    if (kind === "stdin" && /^[a-z@[\\\]^_]$/i.test(value) && ctrl.getAttribute("aria-pressed") === "true") {
      holdCtrl(false);
      text = JSON.stringify([kind, String.fromCharCode(value.toUpperCase().charCodeAt(0) - 64)]);
    }
    super.send(text);
  }
};

// ^w closes a page in most browsers, and deletes a word in most terminals.
window.addEventListener("beforeunload", (event) => {
  if (socket?.readyState === WebSocket.OPEN) event.preventDefault();
});

// xterm.js opens every address on the screen at a click, also one that a server wrote; a key of the program asks first.
window.open = () => null;

// xterm.js would send ^v to the program: the browser pastes instead, as text, which the program gets as pasted.
window.addEventListener(
  "keydown",
  (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "v") {
      event.stopImmediatePropagation();
    }
  },
  true,
);

document.getElementById("keys").addEventListener("pointerdown", (event) => event.preventDefault()); // The focus stays.
document.getElementById("keys").addEventListener("click", async ({ target }) => {
  if (target.dataset.key) type(target.dataset.key);
  else if (target === ctrl) holdCtrl(ctrl.getAttribute("aria-pressed") !== "true");
  else if (target.id === "paste") type(`\x1b[200~${await navigator.clipboard.readText()}\x1b[201~`);
});
document.getElementById("restart").addEventListener("click", () => location.reload());
