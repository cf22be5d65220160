import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "./support/database.ts";
import { eventually } from "./support/eventually.ts";

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s sent to npm start alone ends the service, and npm with it",
  async (name) => {
    const database = await createDatabase();
    const npm = spawn("npm", ["start"], {
      env: { ...process.env, DATABASE_URL: database.url, PORT: "0", GRPC_PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
      // A group of its own, to clean up what npm might leave.
      detached: true,
    });
    let stdout = "";
    npm.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const npmEnded = once(npm, "exit");
    const outputClosed = once(npm.stdout, "close");
    onTestFinished(() => void (npm.stdout.closed || process.kill(-npm.pid!, "SIGKILL")));
    const [, url] = await eventually("the curl line", () => {
      return /^curl -sS (http:..127.0.0.1:\d+)\//m.exec(stdout) ?? undefined;
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);

    npm.kill(name);
    await npmEnded;
    await outputClosed;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  },
);
