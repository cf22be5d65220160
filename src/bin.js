#!/usr/bin/env node
// What `npx shipment-booking` runs: without arguments the service, as `npm start` does in a clone.

/** How often to look whether npx has ended, in milliseconds. */
const POLL_MS = 250;

// A signal to npx ends the shell between npx and this process, and would leave this process behind.
if (process.env.npm_command === "exec") {
  const shell = process.ppid;
  const polling = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(polling);
    process.kill(process.pid, "SIGTERM");
  }, POLL_MS).unref();
}
if (process.argv.length === 2) process.argv.push("serve", "--demo");
await import("./cli.js");
