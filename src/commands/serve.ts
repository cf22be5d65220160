import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import type { Logger } from "pino";
import { COMMAND } from "../config/command-line.ts";
import { readConfig, type Config } from "../config/config.ts";
import type { Lease } from "../embedded-postgres/embedded-postgres.ts";
import { superviseEmbeddedPostgres } from "../embedded-postgres/supervisor.ts";
import type { App } from "../server/app.ts";
import { createLog, INSTANCE, type Log } from "../server/log.ts";
import manifest from "../../package.json" with { type: "json" };
import type { Tracing } from "../telemetry/tracing.ts";
import { assertPortsFree, sharedPortsFault } from "../server/ports.ts";

/** Whether this was loaded from `src/built`, not from the sources. */
const IS_BUILT = !import.meta.url.endsWith(".ts");
/** How long the whole end may take after SIGTERM, in milliseconds. */
export const END_MS = 9_500;
/** How long idle connections stay open at SIGTERM, for calls that proxies may be sending, in milliseconds. */
const IDLE_MS = 1_000;
/** How often to look whether there is a tariff, in milliseconds. */
const POLL_MS = 10;
/** How long there may be no tariff before that is said, in milliseconds. */
const SAY_AFTER_MS = 1_000;

export const serveCommand = new Command("serve")
  .description("run the service until SIGTERM or SIGINT")
  .option("--demo", "first fill an empty database with a sample tariff and a workspace", false)
  .action(({ demo }: { demo: boolean }) => {
    const environment = demo ? demoEnvironment(process.env) : process.env;
    return serve(readConfig(environment), demo);
  });

/**
 * Returns the environment of the demo: unless set otherwise, webhooks can go to this machine over http, and tracking links
 * and the examples in the guides use its addresses.
 */
export function demoEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { WEBHOOK_ALLOW_LOOPBACK_HTTP, PUBLIC_URL, PUBLIC_GRPC_URL, PORT, GRPC_PORT } = environment;
  return {
    ...environment,
    WEBHOOK_ALLOW_LOOPBACK_HTTP: WEBHOOK_ALLOW_LOOPBACK_HTTP || "true",
    PUBLIC_URL: PUBLIC_URL || localUrl(PORT || "8080"),
    PUBLIC_GRPC_URL: PUBLIC_GRPC_URL || localUrl(GRPC_PORT || "9090"),
  };
}

/** Returns an empty string for port 0, which is chosen later, and for an invalid port, which `readConfig` reports. */
function localUrl(port: string): string {
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  return isPort ? `http://127.0.0.1:${port}` : "";
}

/**
 * Runs the service until SIGTERM, SIGINT or the end of its terminal: leases the database,
 * migrates, opens the ports, serves, drains. With `demo`, first fills an empty database, and prints how to make a first call.
 */
async function serve(config: Config, demo: boolean): Promise<void> {
  holdYoungGeneration();
  const shutdown = shutdownRequested();
  // Before anything is made, such as the data folder of the embedded database.
  await assertPortsFree(config);
  const { log, flush } = await createLog(config);
  for (const warning of config.warnings) log.warn(warning);
  const fault = await sharedPortsFault(config);
  if (fault !== undefined) log.warn(fault);
  if (!isOnTerminal()) {
    process.on("SIGHUP", () => log.info("SIGHUP is ignored: there is nothing to read anew"));
  }
  try {
    // The database starts while the code is loaded that needs it.
    const [database] = await Promise.all([
      openDatabase(config, { log, flush }, shutdown),
      import("../server/app.ts"),
    ]);
    if (database === undefined) return;
    try {
      await serveOn(database.url, config, demo, { log, flush }, shutdown);
    } finally {
      await database.release();
    }
  } finally {
    await flush();
  }
}

async function serveOn(
  databaseUrl: string,
  config: Config,
  demo: boolean,
  { log, flush }: Log,
  shutdown: Promise<EndSignal>,
): Promise<void> {
  const { createApp } = await import("../server/app.ts");
  const tracing = await startTracing(config, databaseUrl, log);
  const app = createApp({ ...config, databaseUrl }, log, { tracing });
  let idleMs = 0;
  try {
    const operations = await app.listenForOperators();
    const { maxDatabaseConnections } = app;
    const starting = { maxDatabaseConnections, built: IS_BUILT };
    log.info({ ...(operations && { operations: httpUrl(operations) }), ...starting }, "starting");
    const serving = async () => {
      await app.prepare();
      const { http, grpc } = await app.listen();
      const addresses = { http: httpUrl(http), grpc: authority(grpc) };
      log.info(addresses, "listening");
      const banner = demo
        ? await (await import("../demo/demo.ts")).demoBanner(app, config, addresses)
        : "";
      if (!(await untilServing(app, log))) return;
      letYoungGenerationGrow();
      await flush();
      process.stdout.write(banner);
    };
    const signal = await Promise.race([shutdown, serving().then(() => shutdown)]);
    if (signal === "SIGTERM") {
      idleMs = IDLE_MS;
      await leave(app, config, log);
    }
    log.info("shutting down");
  } finally {
    endInTime({ log, flush });
    await app.close(idleMs);
  }
}

/** Serves on for a while, unready, since load balancers learn of that later; SIGINT cuts it short. */
async function leave(app: App, { shutdownDelaySeconds }: Config, log: Logger): Promise<void> {
  if (shutdownDelaySeconds === 0 || !app.leave()) return;
  log.info({ seconds: shutdownDelaySeconds }, "not ready, and serving on before the end");
  await Promise.race([sleep(shutdownDelaySeconds * 1_000), once(process, "SIGINT")]);
}

/** Starts tracing, if it is on; the SDK is loaded only then. */
async function startTracing(
  { tracing, trustedProxies }: Config,
  databaseUrl: string,
  log: Logger,
): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined;
  const telemetry = await import("../telemetry/tracing.ts");
  const replica = { version: manifest.version, instance: INSTANCE };
  return telemetry.startTracing({ ...tracing, ...replica, databaseUrl, trustedProxies, log });
}

/** Waits for the first tariff, if there is none; false when the service shuts down instead. */
async function untilServing(app: App, log: Logger): Promise<boolean> {
  const waiting = () => app.closedBecause() === undefined && !app.hasTariff();
  // The demo's own has just been published, and is loaded within a moment.
  for (let waitedMs = 0; waiting(); waitedMs += POLL_MS) {
    if (waitedMs === SAY_AFTER_MS) {
      log.warn(
        `waiting for the first tariff: publish one with \`${COMMAND} tariff publish <file>\``,
      );
    }
    await sleep(POLL_MS);
  }
  return app.closedBecause() === undefined;
}

type Database = Pick<Lease, "url" | "release">;

/**
 * The database of the configuration, or an embedded one on lease; undefined when a shutdown is
 * requested before it could be had.
 */
async function openDatabase(
  { databaseUrl, dataDir }: Config,
  { log, flush }: Log,
  shutdown: Promise<EndSignal>,
): Promise<Database | undefined> {
  if (databaseUrl !== undefined) return { url: databaseUrl, release: async () => undefined };
  log.info({ dataDir }, "starting the embedded database");
  const acquiring = superviseEmbeddedPostgres(dataDir, log);
  const acquired = await Promise.race([acquiring, shutdown]);
  if (typeof acquired !== "string") return acquired;
  endInTime({ log, flush });
  log.info("shutting down");
  await acquiring.then(
    (lease) => lease.release(),
    (error: unknown) => log.warn({ err: error }, "the embedded database did not start"),
  );
  return undefined;
}

/** From now on the process ends in time, whatever it still waits for. */
function endInTime({ log, flush }: Log): void {
  const exit = () => {
    log.error(`work was cut: it had not ended after ${END_MS / 1_000} s`);
    void flush().finally(() => process.exit(1));
  };
  setTimeout(exit, END_MS).unref();
}

type EndSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

/**
 * Resolves at the first signal that ends the process; one that is sent twice (by a terminal and by npm)
 * does not cut the end short. SIGHUP does when the terminal was closed that the process runs on, and
 * without a terminal it is ignored: other programs reload by it, and this one has nothing to.
 */
async function shutdownRequested(): Promise<EndSignal> {
  const signals: EndSignal[] = ["SIGTERM", "SIGINT"];
  if (isOnTerminal()) signals.push("SIGHUP");
  for (const signal of [...signals, "SIGHUP"]) process.on(signal, () => undefined);
  return Promise.race(signals.map((signal) => once(process, signal).then(() => signal)));
}

function isOnTerminal(): boolean {
  const { stdin, stdout, stderr } = process;
  return [stdin, stdout, stderr].some(({ isTTY }) => isTTY);
}

function httpUrl(address: AddressInfo): string {
  return `http://${authority(address)}`;
}

/** An address as others can dial it: a wildcard is reachable on the loopback address. */
function authority({ address, family, port }: AddressInfo): string {
  if (address === "0.0.0.0" || address === "::") return `127.0.0.1:${port}`;
  return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Keeps V8's young generation, where new objects live, at the size it has, which is 1 MiB or little
 * more at the start of a process. While it starts, the service makes much that stays, for which V8
 * would double the young generation again and again. It gives memory back only when the young
 * generation has next been filled, which takes an idle process minutes. So a process that has just
 * started takes 137 MiB, and 164 without.
 */
function holdYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Leaves the size of the young generation to V8 again, which under load needs a second to grow. */
function letYoungGenerationGrow(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
}
