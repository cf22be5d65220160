import { z } from "zod";

/** How the process is set up, read once from its environment. */
export interface Config {
  /** The port of the HTTP server; 0 for any free one. */
  readonly port: number;
  /** The port of the gRPC server; 0 for any free one. */
  readonly grpcPort: number;
  readonly host: string;
  /** A PostgreSQL of the operator's; undefined for the embedded one. */
  readonly databaseUrl: string | undefined;
  /** Where the embedded PostgreSQL keeps its files. */
  readonly dataDir: string;
  /** A Valkey or Redis in which replicas count calls together; undefined for each by itself. */
  readonly redisUrl: string | undefined;
  /** Whether webhooks may go to this machine by http, for trying them out. */
  readonly webhookAllowLoopbackHttp: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const port = z.coerce.number().int().min(0).max(65_535);
const environment = z.object({
  PORT: port.default(8080),
  GRPC_PORT: port.default(9090),
  HOST: z.string().optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, "must start with postgres:// or postgresql://")
    .optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, "must start with redis:// or rediss://")
    .optional(),
  DATA_DIR: z.string().default(".data"),
  WEBHOOK_ALLOW_LOOPBACK_HTTP: z.stringbool().default(false),
  LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
});

/** What is wrong with the environment, said variable by variable. */
export class ConfigError extends Error {}

/**
 * Reads the configuration. A variable that is set to nothing counts as not set.
 *
 * @throws ConfigError that names every variable at fault
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const read = environment.safeParse(given);
  if (!read.success) {
    const faults = read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new ConfigError(faults.join("\n"));
  }
  const { PORT, GRPC_PORT, HOST, DATABASE_URL, DATA_DIR, REDIS_URL, LOG_LEVEL } = read.data;
  const { WEBHOOK_ALLOW_LOOPBACK_HTTP } = read.data;
  return Object.freeze({
    port: PORT,
    grpcPort: GRPC_PORT,
    // The embedded database is for one machine, and so is what runs on it, unless told otherwise.
    host: HOST ?? (DATABASE_URL === undefined ? "127.0.0.1" : "0.0.0.0"),
    databaseUrl: DATABASE_URL,
    dataDir: DATA_DIR,
    redisUrl: REDIS_URL,
    webhookAllowLoopbackHttp: WEBHOOK_ALLOW_LOOPBACK_HTTP,
    logLevel: LOG_LEVEL,
  });
}
