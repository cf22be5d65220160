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
import { assertPortsFree, sharedPortsWarning } from "../server/ports.ts";

/** Whether this module was loaded from `src/built` instead of the sources. */
const IS_BUILT = !import.meta.url.endsWith(".ts");
/** Maximum duration of the shutdown after SIGTERM, in milliseconds. */
export const END_MS = 9_500;
/**
 * Time for which idle connections stay open after SIGTERM, in milliseconds, because proxies may be
 * sending calls on them.
 */
const IDLE_MS = 1_000;
/** Interval between checks for the first tariff, in milliseconds. */
const POLL_MS = 10;
/** Time without a tariff after which the missing tariff is logged, in milliseconds. */
const REPORT_AFTER_MS = 1_000;

export const serveCommand = new Command("serve")
  .description("run the service until SIGTERM or SIGINT")
  .option("--demo", "fill an empty database with a sample tariff and a workspace", false)
  .action(({ demo }: { demo: boolean }) => {
    const environment = demo ? demoEnvironment(process.env) : process.env;
    return serve(readConfig(environment), demo);
  });

/**
 * Returns the environment of the demo. Unless set otherwise, webhooks can go to this machine over http,
 * and tracking links and the examples in the guides use this machine's addresses.
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

/**
 * Returns the local URL of a port. Empty for port 0, which is chosen later, and for an invalid port,
 * which `readConfig` reports.
 */
function localUrl(port: string): string {
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  return isPort ? `http://127.0.0.1:${port}` : "";
}

/**
 * Runs the service until it receives SIGTERM or SIGINT, or its terminal is closed. Leases the database, migrates it,
 * opens the ports, serves and drains. With `demo`, first fills an empty database and prints instructions for a first
 * call.
 */
async function serve(config: Config, demo: boolean): Promise<void> {
  holdYoungGeneration();
  const shutdown = shutdownRequested();
  // Ports are checked before anything is created, such as the data folder.
  await assertPortsFree(config);
  const { log, flush } = await createLog(config);
  for (const warning of config.warnings) log.warn(warning);
  const warning = await sharedPortsWarning(config);
  if (warning !== undefined) log.warn(warning);
  if (!isOnTerminal()) {
    process.on("SIGHUP", () => log.info("SIGHUP is ignored: the service does not reload its configuration"));
  }
  try {
    // The database starts while the code is loading.
    const [database] = await Promise.all([openDatabase(config, { log, flush }, shutdown), import("../server/app.ts")]);
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
      const banner = demo ? await (await import("../demo/demo.ts")).demoBanner(app, config, addresses) : "";
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

/**
 * Makes the service not ready and continues to serve for a while, so that load balancers stop sending
 * calls. SIGINT skips the wait.
 */
async function leave(app: App, { shutdownDelaySeconds }: Config, log: Logger): Promise<void> {
  if (shutdownDelaySeconds === 0 || !app.leave()) return;
  log.info({ seconds: shutdownDelaySeconds }, "not ready, still serving before shutdown");
  await Promise.race([sleep(shutdownDelaySeconds * 1_000), once(process, "SIGINT")]);
}

/** Starts tracing if it is enabled. The SDK is loaded only then. */
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

/** Waits for the first tariff. Returns false if the service shuts down first. */
async function untilServing(app: App, log: Logger): Promise<boolean> {
  const waiting = () => app.closedReason() === undefined && !app.hasTariff();
  // Does not report at once, because in the demo the tariff has just been published.
  for (let waitedMs = 0; waiting(); waitedMs += POLL_MS) {
    if (waitedMs === REPORT_AFTER_MS) {
      log.warn(`waiting for the first tariff: publish one with \`${COMMAND} tariff publish <file>\``);
    }
    await sleep(POLL_MS);
  }
  return app.closedReason() === undefined;
}

type Database = Pick<Lease, "url" | "release">;

/**
 * Opens the configured database, or leases the embedded database. Returns `undefined` if a shutdown is requested before
 * it is open.
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

/** Makes the process exit within `END_MS`. */
function endInTime({ log, flush }: Log): void {
  const exit = () => {
    log.error(`work was aborted because it did not finish within ${END_MS / 1_000} s`);
    void flush().finally(() => process.exit(1));
  };
  setTimeout(exit, END_MS).unref();
}

type EndSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

/**
 * Resolves at the first termination signal. If a signal arrives twice, from a terminal and from npm, the shutdown is
 * not shortened. SIGHUP counts if the terminal was closed. Without a terminal, SIGHUP is ignored, because other
 * programs use it to reload their configuration.
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

/** Returns an address for clients. If the service listens on all addresses, clients use the loopback address. */
function authority({ address, family, port }: AddressInfo): string {
  if (address === "0.0.0.0" || address === "::") return `127.0.0.1:${port}`;
  return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Keeps V8's young generation at its initial size of about 1 MiB. The service creates many long-lived
 * objects during startup. V8 would repeatedly double the young generation for them, and shrink it only
 * minutes later in an idle process. This reduces the memory after startup from 164 to 137 MiB.
 */
function holdYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Lets V8 resize the young generation again. Under load, growing takes a second. */
function letYoungGenerationGrow(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
}
