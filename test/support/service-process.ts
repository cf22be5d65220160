import { expect } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startCommand, type Environment, type Running } from "./command.ts";
import { endpointsAt, type Endpoints } from "./endpoints.ts";
import { eventually } from "./eventually.ts";

/** A parsed line of the log. Other output is ignored. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Fields that every log line of a process has. */
export const OF_PROCESS = {
  service: "shipments",
  version: manifest.version,
  instance: expect.stringMatching(/^.+-\d+$/),
};

/** A service in a separate process, started as an operator does. */
export interface Logging extends Running {
  /** Returns the log lines so far. */
  log(): LogLine[];
}

export interface ServiceProcess extends Logging, Endpoints {
  untilReady(): Promise<void>;
}

/**
 * Starts `shipments serve <args>` on free ports, and waits until both servers listen. The test
 * kills the process at its end.
 */
export function startServiceProcess(environment: Environment, args: readonly string[] = []): Promise<ServiceProcess> {
  return untilListening(spawnService(environment, args));
}

/** Starts the service without waiting. A service without its database never listens. */
export function spawnService(environment: Environment, args: readonly string[] = []): Logging {
  const running = startCommand(["serve", ...args], { ...FREE_PORTS, ...environment });
  return { ...running, log: () => logLines(running.stdout()) };
}

/** Environment that makes a process listen on free ports. */
export const FREE_PORTS: Environment = { PORT: "0", GRPC_PORT: "0" };

/** Waits until both servers of a process listen. */
export async function untilListening(running: Running): Promise<ServiceProcess> {
  const log = () => logLines(running.stdout());
  const findListening = () => {
    const { exitCode, signalCode } = running.process;
    if (exitCode !== null || signalCode !== null) throw new Error(`the service exited: ${running.stderr()}`);
    // The last release logs its addresses earlier during startup.
    return log().find((line) => line.http !== undefined);
  };
  const { http, grpc } = await eventually("the service to listen", findListening);
  const endpoints = endpointsAt(http as string, `http://${grpc as string}`);
  return {
    ...running,
    ...endpoints,
    log,
    untilReady: async () => {
      await eventually("the service to be ready", async () => {
        const { status } = await endpoints.request("/readyz");
        return status === 200;
      });
    },
  };
}

/** Parses the complete log lines in the output. */
function logLines(stdout: string): LogLine[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}
