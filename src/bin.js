#!/usr/bin/env node
// What `npx shipment-booking` runs: without arguments the service, as `npm start` does in a clone.
if (process.argv.length === 2) process.argv.push("serve", "--demo");
await import("./cli.js");
