// Opens pages in headless Chromium, one after the other, and tells as JSON what each did: `browser.mjs PAGE…`.
// Every row is selected once (of very many the first thousand), so that every text has been on the page.

import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args,
  headless: "shell",
  defaultViewport: { width: 1200, height: 700 },
});
const told = [];
for (const path of process.argv.slice(2)) {
  const page = await browser.newPage();
  const said = { requests: [], dialogs: [], errors: [], rows: 0, texts: [] };
  page.on("request", (request) => said.requests.push(request.url()));
  page.on("dialog", async (dialog) => {
    said.dialogs.push(dialog.message());
    await dialog.dismiss();
  });
  page.on("console", (message) => said.errors.push(message.text()));
  page.on("pageerror", (error) => said.errors.push(String(error)));
  await page.evaluateOnNewDocument(() => {
    addEventListener("securitypolicyviolation", (event) => console.log(`violation: ${event.violatedDirective}`));
  });
  await page.goto(`file://${path}`);
  const settled = () =>
    page.waitForFunction(() => document.body.dataset.ready === "yes" && !document.body.classList.contains("looking"));
  await settled();
  said.counted = await page.$eval("#counted", (element) => element.textContent);
  said.rows = Number(said.counted.split(" ")[0].replaceAll(",", ""));
  said.texts = await page.evaluate((rows) => {
    const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const found = [];
    for (let row = 0; row < rows; row++) {
      press(row === 0 ? "Home" : "ArrowDown");
      found.push(document.getElementById("detail").textContent);
    }
    return found;
  }, Math.min(said.rows, 1000));
  said.drawn = await page.$$eval(".row", (rows) => rows.length);
  said.elements = await page.evaluate(() => [...new Set([...document.querySelectorAll("*")].map((each) => each.localName))]);
  said.title = await page.title();
  await page.focus("#list");
  await page.keyboard.press("f");
  said.folded = await page.$eval("#counted", (element) => element.textContent);
  await page.keyboard.press("f");
  await page.type("#search", "kind:request");
  await settled();
  said.searched = await page.$eval("#counted", (element) => element.textContent);
  await page.evaluate(() => {
    const search = document.getElementById("search");
    search.value = "alert";
    search.dispatchEvent(new Event("input"));
  });
  await settled();
  said.found = await page.$eval("#counted", (element) => element.textContent);
  told.push(said);
  await page.close();
}
await browser.close();
console.log(JSON.stringify(told));
