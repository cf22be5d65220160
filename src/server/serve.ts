import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { destination, pino, type Logger } from "pino";
import { createApp } from "./app.ts";
import type { Config } from "../config.ts";
import { introduce } from "./demo.ts";
import { superviseEmbeddedPostgres } from "../embedded-postgres/supervisor.ts";

/** How long the whole end may take after SIGTERM, in milliseconds. */
const END_MS = 9_500;

/**
 * Runs the service until SIGTERM or SIGINT: leases the database, opens the doors, migrates,
 * serves, drains. With `demo`, first fills an empty database, and prints how to make a first call.
 *
 * @throws when the database cannot be had or migrated, or an address is taken
 */
export async function serve(config: Config, demo: boolean): Promise<void> {
  const { log, flush } = createLog(config);
  const told = untilToldToEnd();
  const embedded =
    config.databaseUrl === undefined
      ? await superviseEmbeddedPostgres(config.dataDir, log)
      : undefined;
  const databaseUrl = config.databaseUrl ?? embedded!.url;
  const app = createApp({ ...config, databaseUrl }, log);
  try {
    const { http, grpc } = await app.listen();
    const addresses = { http: `http://${authority(http)}`, grpc: authority(grpc) };
    log.info(addresses, "listening");
    const prepared = app.prepare().then(() => {
      log.info("serving");
      return demo ? introduce(app, addresses) : undefined;
    });
    await Promise.race([told, prepared.then(() => told)]);
    log.info("shutting down");
  } finally {
    setTimeout(() => process.exit(1), END_MS).unref();
    await app.close();
    await embedded?.release();
    flush();
  }
}

/**
 * Resolves at the first SIGTERM or SIGINT; one sent twice (by a terminal and by npm) does not cut
 * the end short.
 */
async function untilToldToEnd(): Promise<void> {
  process.on("SIGTERM", () => undefined);
  process.on("SIGINT", () => undefined);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
}

/**
 * A log on standard output, written in batches so that a line for each call costs next to nothing.
 */
function createLog(config: Config): { log: Logger; flush: () => void } {
  const output = destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 100 });
  const hooks = { streamWrite: withoutKeys };
  const log = pino({ level: config.logLevel, base: undefined, hooks }, output);
  return { log, flush: () => output.flushSync() };
}

/** A key but for its last four characters. */
const KEY = /shp_[0-9A-Za-z]{32}(?=[0-9A-Za-z]{4})/g;

/**
 * A log line with the keys in it cut to their last four characters: a caller may have put one where
 * none belongs, such as in a request id.
 */
function withoutKeys(line: string): string {
  return line.includes("shp_") ? line.replace(KEY, "shp_...") : line;
}

/** An address as others can dial it: a wildcard is reachable on the loopback address. */
function authority({ address, family, port }: AddressInfo): string {
  if (address === "0.0.0.0" || address === "::") return `127.0.0.1:${port}`;
  return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
}
