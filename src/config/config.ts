import { z } from "zod";
import { databaseUrlError } from "../db/database-url.ts";
import { nearestName, onlyCompletion } from "../domain/nearest-name.ts";
import { SEALING_KEY_LENGTH } from "../domain/secret-seal.ts";
import { trustedProxiesError } from "../pipeline/client-address.ts";
import { GEOCODER_VARIABLES, readGeocoder } from "./geocoder-config.ts";
import { MAIL_VARIABLES, readMail } from "./mail-config.ts";
import { PICTURES_VARIABLES, readPictures } from "./pictures-config.ts";
import { MAP_VARIABLES, readMapTiles } from "./map-config.ts";
import { readStripe, STRIPE_VARIABLES } from "./stripe-config.ts";
import { readTracing, TRACING_VARIABLES } from "./tracing-config.ts";
import {
  addressLike,
  ConfigError,
  flag,
  isDecodable,
  list,
  oneOf,
  originLike,
  parseVariables,
  requireSet,
  SECRET,
  wholeNumber,
} from "./variables.ts";

/** Configuration of the process, read once from its environment. */
export type Config = ReturnType<typeof readConfig>;

export const DEFAULT_MAX_DATABASE_OUTAGE_SECONDS = 30;

const port = wholeNumber(0, 65_535);

/** Variables. `Config` has the same names in camel case. */
const VARIABLES = {
  PORT: port.default(8080),
  GRPC_PORT: port.default(9090),
  OPERATIONS_PORT: port.optional(),
  REUSE_PORT: flag.default(false),
  DATABASE_URL: z
    .string()
    .superRefine((text, { addIssue }) => {
      const message = databaseUrlError(text);
      if (message !== undefined) addIssue({ code: "custom", message });
    })
    .optional()
    .meta(SECRET),
  DATA_DIR: z.string().default(".data"),
  PUBLIC_URL: originLike("https://book.example.org"),
  PUBLIC_GRPC_URL: originLike("https://grpc.example.org"),
  TRUSTED_PROXIES: list.superRefine((trusted, { addIssue }) => {
    const message = trustedProxiesError(trusted);
    if (message !== undefined) addIssue({ code: "custom", message });
  }),
  REDIS_URL: addressLike("redis://user:password@redis.example.org:6379", isRedisUrl).optional().meta(SECRET),
  WEBHOOK_ALLOW_LOOPBACK_HTTP: flag.default(false),
  SECRETS_KEYS: list
    .transform((keys) => keys.map((text) => Buffer.from(text, "base64")))
    .refine((keys) => keys.every(({ length }) => length === SEALING_KEY_LENGTH), {
      error: "must be keys of 32 bytes in base64, separated by commas. Create one with `openssl rand -base64 32`",
    })
    .meta(SECRET),
  EVENT_RETENTION_DAYS: wholeNumber(1, 36_500).optional(),
  MAX_DATABASE_OUTAGE_SECONDS: wholeNumber(0, 86_400).default(DEFAULT_MAX_DATABASE_OUTAGE_SECONDS),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, 300).default(0),
  DASHBOARD: oneOf(["on", "off"])
    .default("on")
    .transform((text) => text === "on"),
  LOG_LEVEL: oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  /** Log format. By default text on a terminal, otherwise JSON. */
  LOG_FORMAT: oneOf(["json", "text"]).optional(),
};

const OIDC_VARIABLES = {
  // The issuer is a URL as in OpenID Connect Discovery 1.0, section 3, or a local address.
  OIDC_ISSUER: addressLike(
    "https://accounts.example.org",
    ({ protocol, hostname, search, hash }) =>
      search + hash === "" &&
      (protocol === "https:" || (protocol === "http:" && /^(localhost|127\..*|\[::1\])$/.test(hostname))),
  ).optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional().meta(SECRET),
  OIDC_ASSUME_EMAIL_VERIFIED: flag.default(false),
};

const environment = z.object({
  ...VARIABLES,
  HOST: z.string().optional(),
  ...OIDC_VARIABLES,
  ...MAIL_VARIABLES,
  ...STRIPE_VARIABLES,
  ...GEOCODER_VARIABLES,
  ...MAP_VARIABLES,
  ...PICTURES_VARIABLES,
  ...TRACING_VARIABLES,
});
type Variables = z.output<typeof environment>;

/** Names of all variables that the service reads. */
export const VARIABLE_NAMES: readonly string[] = Object.keys(environment.shape);

/**
 * Reads the configuration. Empty variables count as unset.
 *
 * @throws ConfigError that lists every invalid variable
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const variables = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const read = parseVariables(environment, variables);
  assertPortsDiffer(read);
  assertPortsShareable(read);
  return Object.freeze({
    ...camelCased(read),
    // The embedded database is for local use, so the service then also listens locally by default.
    host: read.HOST ?? (read.DATABASE_URL === undefined ? "127.0.0.1" : "0.0.0.0"),
    oidc: readOidc(read),
    mail: readMail(read),
    stripe: readStripe(read),
    geocoder: readGeocoder(read),
    mapTiles: readMapTiles(read),
    pictures: readPictures(read),
    tracing: readTracing(read),
    /** Warnings for variables that have no effect and nearly match a known name. */
    warnings: findMisspelt(Object.keys(variables)),
  });
}

/** Whether ioredis can parse the URL. Otherwise, rate limits would never be shared. */
function isRedisUrl({ protocol, hostname, username, password }: URL): boolean {
  return /^rediss?:$/.test(protocol) && hostname !== "" && [username, password].every(isDecodable);
}

type CamelCase<S extends string> = S extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<S>;

function camelCased(read: Variables) {
  const entries = Object.keys(VARIABLES).map((name) => [
    name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    read[name as keyof typeof VARIABLES],
  ]);
  return Object.fromEntries(entries) as {
    readonly [K in keyof typeof VARIABLES as CamelCase<K>]: Variables[K];
  };
}

function findMisspelt(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    if (VARIABLE_NAMES.includes(name)) return [];
    const candidate = nearestName(name, VARIABLE_NAMES) ?? onlyCompletion(name, VARIABLE_NAMES);
    return candidate === undefined ? [] : `${name} has no effect; the service reads ${candidate}`;
  });
}

/** @throws ConfigError if two servers have the same port, unless it is 0 */
function assertPortsDiffer({ PORT, GRPC_PORT, OPERATIONS_PORT }: Variables): void {
  const ports = Object.entries({ PORT, GRPC_PORT, OPERATIONS_PORT });
  for (const [number, same] of Map.groupBy(ports, ([, it]) => it)) {
    if (!number || same.length === 1) continue;
    const all = same.length === 2 ? "both" : "all";
    const names = same.map(([name]) => name).join(" and ");
    throw new ConfigError(`${names} are ${all} ${number}: give them different ports`);
  }
}

/** @throws ConfigError if ports cannot be shared, or probes cannot distinguish the processes */
function assertPortsShareable({ REUSE_PORT, OPERATIONS_PORT, ...read }: Variables): void {
  if (!REUSE_PORT) return;
  const apart = "REUSE_PORT, to a separate port for each process: a probe at a shared port could reach any process";
  requireSet({ OPERATIONS_PORT }, apart);
  for (const name of ["PORT", "GRPC_PORT"] as const) {
    if (read[name] > 0) continue;
    throw new ConfigError(`${name}: must not be 0 for REUSE_PORT: give all processes the same port`);
  }
}

/** @throws ConfigError if the OIDC settings are incomplete */
function readOidc(read: Variables) {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PUBLIC_URL } = read;
  const own = { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  if (Object.values(own).every((value) => value === undefined)) return undefined;
  // Required because the provider redirects people to the public URL.
  const all = requireSet({ ...own, PUBLIC_URL }, "OIDC sign-in");
  return {
    issuer: all.OIDC_ISSUER,
    clientId: all.OIDC_CLIENT_ID,
    clientSecret: all.OIDC_CLIENT_SECRET,
    assumeEmailVerified: read.OIDC_ASSUME_EMAIL_VERIFIED,
  };
}
