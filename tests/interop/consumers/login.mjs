// A person in headless Chromium who logs in: `login.mjs URL`. Fills in what is asked and presses the first button of each
// page, until there is none. Tells as JSON the paths that were seen, the last page's text, and what the browser complained of where.

import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const MOST = 10;
const browser = await puppeteer.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args,
  headless: "shell",
});
const page = await browser.newPage();
const told = { paths: [], errors: [] };
const complained = (what) => told.errors.push([new URL(page.url()).pathname, what]);
page.on("console", (message) => complained(message.text()));
page.on("pageerror", (error) => complained(String(error)));
await page.goto(process.argv[2]);
for (let pages = 0; pages < MOST; pages++) {
  told.paths.push(new URL(page.url()).pathname);
  const button = await page.$("form button, form input[type=submit]");
  if (!button) break;
  for (const field of await page.$$("form input[type=text], form input:not([type]), form input[type=password]")) {
    await field.type("alice");
  }
  await Promise.all([page.waitForNavigation(), button.click()]);
}
told.text = (await page.evaluate(() => document.body.innerText)).trim();
await browser.close();
console.log(JSON.stringify(told));
