import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { styleText } from "node:util";
import { destination, pino, type DestinationStream, type Logger } from "pino";
import type { Config } from "../config/config.ts";
import { cutKeys } from "../domain/secret-key.ts";
import manifest from "../../package.json" with { type: "json" };

/** Which process this is, among replicas of several machines or of one. */
export const INSTANCE = `${hostname()}-${process.pid}`;
/** What every line carries, since logs of many programs are read in one place. */
const BASE = { service: "shipments", version: manifest.version, instance: INSTANCE };

/** A log on standard output, and what writes all that it holds back. */
export interface Log {
  readonly log: Logger;
  /** To be awaited before the process exits, which loses what is being written. */
  readonly flush: () => Promise<void>;
}

/** How long writing may take whose reader is slow, in milliseconds. */
const FLUSH_MS = 100;

/**
 * Opens the log on standard output: lines for people on a terminal, else JSON, unless the
 * configuration says which. Keys in it are cut to their last four characters.
 */
export async function createLog(config: Pick<Config, "logLevel" | "logFormat">): Promise<Log> {
  const format = config.logFormat ?? (process.stdout.isTTY ? "text" : "json");
  const { stream, flush } = format === "text" ? await textOutput() : jsonOutput();
  // A caller may have put a key where none belongs, such as in a request id.
  const hooks = { streamWrite: cutKeys };
  const formatters = { level: (level: string) => ({ level }) };
  return { log: pino({ level: config.logLevel, base: BASE, formatters, hooks }, stream), flush };
}

interface Output extends Pick<Log, "flush"> {
  readonly stream: DestinationStream;
}

/** Written in batches, so that a line for each call costs next to nothing. */
function jsonOutput(): Output {
  const stream = destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 100 });
  const flush = async () => {
    const written = new Promise((resolve) => stream.flush(resolve));
    await Promise.race([written, sleep(FLUSH_MS, undefined, { ref: false })]);
    stream.flushSync();
  };
  return { stream, flush };
}

/** Loaded only here: a service in production writes JSON. */
async function textOutput(): Promise<Output> {
  const { prettyFactory } = await import("pino-pretty");
  const format = prettyFactory({
    // Node knows NO_COLOR, FORCE_COLOR and what the terminal can do.
    colorize: styleText("red", "x", { stream: process.stdout }) !== "x",
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
    ignore: [...CALL_FIELDS, ...Object.keys(BASE)].join(),
    messageFormat: (line, messageKey) => describe(line as CallLine, String(line[messageKey])),
  });
  // A terminal that was closed takes no more lines, which must not keep the service from ending well.
  process.stdout.on("error", () => undefined);
  const stream = { write: (line: string) => void process.stdout.write(format(line)) };
  // A terminal is written to at once.
  return { stream, flush: async () => undefined };
}

/** The fields of a call's line that its message tells. */
const CALL_FIELDS = [
  "requestId",
  "method",
  "path",
  "address",
  "workspace",
  "key",
  "traceId",
  "code",
  "status",
  "durationMs",
] as const;
type CallLine = Readonly<Partial<Record<(typeof CALL_FIELDS)[number], string | number>>>;

/** The message, and of a call what was called, HTTP status (0: no answer), gRPC code, and so on. */
function describe(line: CallLine, message: string): string {
  const { method, path, status, code, durationMs, workspace, key, address, requestId } = line;
  if (durationMs === undefined) {
    return requestId === undefined ? message : `${message}, request ${requestId}`;
  }
  const said = { workspace, key, from: address, request: requestId, trace: line.traceId };
  const rest = Object.entries(said).filter(([, value]) => value !== undefined);
  const what = `${method ?? path ?? "no method"} ${status} ${code}`;
  const took = `${Number(durationMs).toFixed(1)} ms`;
  return [what, took, ...rest.map((pair) => pair.join(" "))].join(", ");
}
