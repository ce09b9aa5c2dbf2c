#!/usr/bin/env node
// Starts the program of this platform's own package.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const name = `heirloom-memory-${process.platform}-${process.arch}`;
let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/bin/heirloom`);
} catch {
  console.error(`error: there is no package \`${name}\`\n  next: install without --omit=optional, or build Heirloom with cargo`);
  process.exit(1);
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`error: ${program}: ${ended.error.message}`);
  process.exit(1);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status ?? 1);
