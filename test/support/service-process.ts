import { expect } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startCommand, type Environment, type Running } from "./command.ts";
import { endpointsAt, type Endpoints } from "./endpoints.ts";
import { eventually } from "./eventually.ts";

/** A line of the log; whatever else is on standard output is not one. */
export type LogLine = Readonly<Record<string, unknown>>;

/** What each line of a process's log says of it. */
export const OF_PROCESS = {
  service: "shipments",
  version: manifest.version,
  instance: expect.stringMatching(/^.+-\d+$/),
};

/** A service that starts in a process of its own, as an operator starts it. */
export interface Logging extends Running {
  /** The log so far, line by line. */
  log(): LogLine[];
}

/** One that listens. */
export interface ServiceProcess extends Logging, Endpoints {
  /** Waits until calls are served. */
  untilReady(): Promise<void>;
}

/**
 * Starts `shipments serve <args>` on free ports, and waits until both servers listen; it is killed
 * when the test is over, should it still run.
 */
export function startServiceProcess(
  environment: Environment,
  args: readonly string[] = [],
): Promise<ServiceProcess> {
  return untilListening(startStarting(environment, args));
}

/** The same, without waiting: a service that cannot reach its database never listens. */
export function startStarting(environment: Environment, args: readonly string[] = []): Logging {
  const running = startCommand(["serve", ...args], { ...FREE_PORTS, ...environment });
  return { ...running, log: () => logLines(running.stdout()) };
}

/** Makes a process listen at ports that nobody has. */
export const FREE_PORTS: Environment = { PORT: "0", GRPC_PORT: "0" };

/** Waits until both servers of a process that was started listen. */
export async function untilListening(running: Running): Promise<ServiceProcess> {
  const log = () => logLines(running.stdout());
  const findListening = () => {
    const { exitCode, signalCode } = running.process;
    if (exitCode !== null || signalCode !== null) throw new Error(`it ended: ${running.stderr()}`);
    // The last release told its addresses when it began to start.
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

/** The lines of a log; the last one only when it is complete. */
function logLines(stdout: string): LogLine[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}
