import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A service in a process of its own, as an operator would start it. */
export interface ServiceProcess {
  readonly httpUrl: string;
  /** Kills it at once, without a chance to end in order. */
  kill(): Promise<void>;
  /** Tells it to end, and waits until it has. */
  stop(): Promise<void>;
}

const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

/** Starts `serve` on a database, and waits until it serves. */
export async function startProcess(databaseUrl: string): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [CLI, "serve"], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      HOST: "127.0.0.1",
      PORT: "0",
      GRPC_PORT: "0",
      WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const httpUrl = await untilServing(child);
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  return { httpUrl, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
}

async function untilServing(child: ChildProcess): Promise<string> {
  let httpUrl = "";
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("the service ended before it served")));
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const entry = JSON.parse(line);
      if (entry.msg === "listening") httpUrl = entry.http;
      if (entry.msg === "serving") resolve(httpUrl);
    });
  });
}
