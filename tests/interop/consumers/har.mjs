// Validates archives with har-validator and tells as JSON what it says of each: `har.mjs FILE…`.

import { readFileSync } from "node:fs";
import validator from "har-validator";

const told = [];
for (const path of process.argv.slice(2)) {
  try {
    const archive = await validator.har(JSON.parse(readFileSync(path, "utf8")));
    told.push({ entries: archive.log.entries.length });
  } catch (error) {
    told.push({ errors: error.errors ?? String(error) });
  }
}
console.log(JSON.stringify(told));
