// Draws diagrams with Mermaid in headless Chromium and tells as JSON which texts are in each picture: `mermaid.mjs FILE…`.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args,
  headless: "shell",
});
const page = await browser.newPage();
const dialogs = [];
page.on("dialog", async (dialog) => {
  dialogs.push(dialog.message());
  await dialog.dismiss();
});
await page.setContent("<!doctype html><body></body>");
const package_ = createRequire(import.meta.url).resolve("mermaid");
await page.addScriptTag({ path: package_.replace(/[^/]*$/, "mermaid.min.js") });
const told = [];
for (const path of process.argv.slice(2)) {
  const drawn = await page.evaluate(async (text) => {
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });
    const { svg } = await mermaid.render("drawn", text);
    const picture = new DOMParser().parseFromString(svg, "text/html");
    const texts = (selector) => [...picture.querySelectorAll(selector)].map((each) => each.textContent);
    return {
      messages: texts(".messageText"),
      notes: texts(".noteText"),
      actors: texts("text.actor-box"),
      elements: [...new Set([...picture.querySelectorAll("svg *")].map((each) => each.localName))],
    };
  }, readFileSync(path, "utf8"));
  told.push(drawn);
}
await browser.close();
console.log(JSON.stringify({ dialogs, drawn: told }));
