#!/usr/bin/env node
// Package command `shipment-booking`. Without arguments it runs the demo, like `npm start` in a clone.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Interval of checks that npx is still running, in milliseconds. */
const POLL_MS = 250;

/** Returns the parent process id and the program name of a process. */
function readProcess(pid) {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
    return { parent: Number(parent), name };
  } catch {
    // macOS does not have /proc.
    const columns = execFileSync("ps", ["-o", "ppid=,comm=", "-p", String(pid)], {
      encoding: "utf8",
    });
    const [, parent, name] = /^\s*(\d+)\s+(.*)$/m.exec(columns);
    return { parent: Number(parent), name };
  }
}

/** Returns the process id of npx: the parent process, or the grandparent if npx runs the command in a shell. */
function findNpx() {
  const { parent, name } = readProcess(process.ppid);
  return /(^|[/-])(ba|da|k|z)?sh$/.test(name) ? parent : process.ppid;
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch ({ code }) {
    return code === "EPERM";
  }
}

// npx does not forward all signals and cannot forward SIGKILL.
if (process.env.npm_command === "exec") {
  const parent = process.ppid;
  const npx = findNpx();
  const polling = setInterval(() => {
    if (process.ppid === parent && isRunning(npx)) return;
    clearInterval(polling);
    process.kill(process.pid, "SIGTERM");
  }, POLL_MS).unref();
}
if (process.argv.length === 2) process.argv.push("serve", "--demo");
await import("./cli.js");
