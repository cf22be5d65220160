import { z } from "zod";
import { trustedProxiesFault } from "../pipeline/client-address.ts";
import {
  ConfigError,
  parseVariables,
  readTracing,
  SECRET,
  TRACING_VARIABLES,
  type TracingConfig,
} from "./tracing-config.ts";
import { MAP_VARIABLES, readMapTiles } from "./map-config.ts";
import { GEOCODER_VARIABLES, readGeocoder, type GeocoderConfig } from "./geocoder-config.ts";
import { MAIL_VARIABLES, readMail, type MailConfig } from "./mail-config.ts";
import { databaseUrlFault } from "../db/database-url.ts";
import type { MapTiles } from "../domain/map-tiles.ts";
import { nearestName } from "../domain/nearest-name.ts";
import { SEALING_KEY_LENGTH } from "../domain/secret-seal.ts";

/** How the process is set up, read once from its environment. */
export interface Config {
  /** The port of the HTTP server; 0 for any free one. */
  readonly port: number;
  /** The port of the gRPC server; 0 for any free one. */
  readonly grpcPort: number;
  /**
   * The port of the server for operators and their probes, 0 for any free one; undefined for none, so
   * that the HTTP server serves the metrics.
   */
  readonly operationsPort: number | undefined;
  readonly host: string;
  /** Where browsers reach the service, such as `https://book.example.org`; undefined when not said. */
  readonly publicUrl: string | undefined;
  /** Where callers of gRPC reach the service, if that is not its port on the host of its pages. */
  readonly publicGrpcUrl: string | undefined;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** The identity provider at which people may sign in; undefined for none. */
  readonly oidc: OidcConfig | undefined;
  /** How mails are sent; undefined when they are not. */
  readonly mail: MailConfig | undefined;
  /** A PostgreSQL of the operator's, perhaps of several hosts; undefined for the embedded one. */
  readonly databaseUrl: string | undefined;
  /** Where the embedded PostgreSQL keeps its files. */
  readonly dataDir: string;
  /** A Valkey or Redis in which replicas count calls together; undefined for each by itself. */
  readonly redisUrl: string | undefined;
  /** Whether webhooks may go to this machine by http, for trying them out. */
  readonly webhookAllowLoopbackHttp: boolean;
  /** What seals secrets in the database, by the first, and opens them; none for not sealing them. */
  readonly secretsKeys: readonly Uint8Array[];
  /** How payments are taken by Stripe. */
  readonly stripe: StripeConfig;
  /** The geocoder that addresses are found by; undefined for none. */
  readonly geocoder: GeocoderConfig | undefined;
  /** How long events are kept, in days, 1 to 36,500; undefined for ever. */
  readonly eventRetentionDays: number | undefined;
  /** How long the database may be away before the service is not ready, in seconds; 0 for ever. */
  readonly maxDatabaseOutageSeconds: number;
  /** For how long it goes on serving after SIGTERM, unready already, in seconds. */
  readonly shutdownDelaySeconds: number;
  /** Whether the HTTP server serves the dashboard. */
  readonly dashboard: boolean;
  /** What the dashboard's maps show below zones; undefined for coasts, borders and larger places alone. */
  readonly mapTiles: MapTiles | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** How the log is written; undefined for text on a terminal and JSON elsewhere. */
  readonly logFormat: (typeof LOG_FORMATS)[number] | undefined;
  /** How calls are traced; undefined when they are not. */
  readonly tracing: TracingConfig | undefined;
  /** What is set and has no effect, though its name is nearly that of a variable: a sentence for each. */
  readonly warnings: readonly string[];
}

/** An identity provider, and as what this service is registered there. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whether an email counts as verified of which the provider does not say whether it is. */
  readonly assumeEmailVerified: boolean;
}

/** How Stripe is reached, and the platform's accounts there; workspaces may have keys of their own. */
export interface StripeConfig {
  /** The origin of its API, such as `https://api.stripe.com`; undefined for that. */
  readonly apiUrl: string | undefined;
  /** The platform's account in each of Stripe's modes; undefined for none. */
  readonly platforms: Readonly<Partial<Record<"live" | "test", StripePlatform | undefined>>>;
}

/** The platform's account in a mode of Stripe's, under which it makes accounts of workspaces. */
export interface StripePlatform {
  readonly secretKey: string;
  /** What notices are signed with: one, or two while one takes the place of the other. */
  readonly webhookSecrets: readonly string[];
}

/** How long the database may be away before the service is not ready, unless configured. */
export const DEFAULT_MAX_DATABASE_OUTAGE_SECONDS = 30;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const LOG_FORMATS = ["json", "text"] as const;

/** A whole number from `least` to `most`. */
function wholeNumber(least: number, most: number) {
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number from ${least} to ${most}`,
    })
    .transform(Number);
}

function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be ${values.slice(0, -1).join(", ")} or ${values.at(-1)}` });
}

/** Values by commas. */
const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );

/** What notices of a payment provider are signed with. */
const signingSecrets = list.refine(
  (secrets) => secrets.length <= 2 && secrets.every((secret) => secret.startsWith("whsec_")),
  { error: "must be a secret such as whsec_..., or two by a comma" },
);

const port = wholeNumber(0, 65_535);
/** Such as the example, without a path. */
function originLike(example: string) {
  return z
    .string()
    .refine(isOrigin, { error: `must be an origin such as ${example}` })
    .transform((text) => new URL(text).origin)
    .optional();
}

const environment = z.object({
  PORT: port.default(8080),
  GRPC_PORT: port.default(9090),
  OPERATIONS_PORT: port.optional(),
  HOST: z.string().optional(),
  DATABASE_URL: z
    .string()
    .superRefine((text, { addIssue }) => {
      const message = databaseUrlFault(text);
      if (message !== undefined) addIssue({ code: "custom", message });
    })
    .optional()
    .meta(SECRET),
  PUBLIC_URL: originLike("https://book.example.org"),
  PUBLIC_GRPC_URL: originLike("https://grpc.example.org"),
  TRUSTED_PROXIES: list.superRefine((trusted, { addIssue }) => {
    const message = trustedProxiesFault(trusted);
    if (message !== undefined) addIssue({ code: "custom", message });
  }),
  OIDC_ISSUER: z
    .string()
    .refine(isIssuer, { error: "must be an address such as https://accounts.example.org" })
    .optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional().meta(SECRET),
  OIDC_ASSUME_EMAIL_VERIFIED: z.stringbool({ error: "must be true or false" }).default(false),
  ...MAIL_VARIABLES,
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, "must start with redis:// or rediss://")
    .optional()
    .meta(SECRET),
  DATA_DIR: z.string().default(".data"),
  WEBHOOK_ALLOW_LOOPBACK_HTTP: z.stringbool({ error: "must be true or false" }).default(false),
  SECRETS_KEYS: list
    .transform((keys) => keys.map((text) => Buffer.from(text, "base64")))
    .refine((keys) => keys.every(({ length }) => length === SEALING_KEY_LENGTH), {
      error: "must be keys of 32 bytes in base64, by commas: `openssl rand -base64 32` makes one",
    })
    .meta(SECRET),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(
      /^[rs]k_live_\w+$/,
      "must be a live key such as sk_live_...; STRIPE_TEST_SECRET_KEY is for a test key",
    )
    .optional()
    .meta(SECRET),
  STRIPE_WEBHOOK_SECRET: signingSecrets.meta(SECRET),
  STRIPE_TEST_SECRET_KEY: z
    .string()
    .regex(
      /^[rs]k_test_\w+$/,
      "must be a test key such as sk_test_...; STRIPE_SECRET_KEY is for a live key",
    )
    .optional()
    .meta(SECRET),
  STRIPE_TEST_WEBHOOK_SECRET: signingSecrets.meta(SECRET),
  STRIPE_API_URL: originLike("https://api.stripe.com"),
  ...GEOCODER_VARIABLES,
  EVENT_RETENTION_DAYS: wholeNumber(1, 36_500).optional(),
  MAX_DATABASE_OUTAGE_SECONDS: wholeNumber(0, 86_400).default(DEFAULT_MAX_DATABASE_OUTAGE_SECONDS),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, 300).default(0),
  DASHBOARD: oneOf(["on", "off"]).default("on"),
  ...MAP_VARIABLES,
  LOG_LEVEL: oneOf(LOG_LEVELS).default("info"),
  LOG_FORMAT: oneOf(LOG_FORMATS).optional(),
  ...TRACING_VARIABLES,
});

/** Whether it is the origin of a site: a scheme, a host, perhaps a port, and nothing more. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${origin}/`;
}

/** Whether it can be an issuer (OpenID Connect Discovery 1.0, section 3), or one on this machine. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash } = new URL(text);
  if (search !== "" || hash !== "") return false;
  return (
    protocol === "https:" ||
    (protocol === "http:" && /^(localhost|127\..*|\[::1\])$/.test(hostname))
  );
}

/**
 * Reads the configuration. A variable that is set to nothing counts as not set.
 *
 * @throws ConfigError that names every variable at fault
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const read = parseVariables(environment, given);
  const { PORT, GRPC_PORT, OPERATIONS_PORT, HOST, DATABASE_URL, DATA_DIR } = read;
  const { REDIS_URL, WEBHOOK_ALLOW_LOOPBACK_HTTP, EVENT_RETENTION_DAYS } = read;
  assertPortsDiffer({ PORT, GRPC_PORT, OPERATIONS_PORT });
  const oidc = readOidc(read);
  return Object.freeze({
    port: PORT,
    grpcPort: GRPC_PORT,
    operationsPort: OPERATIONS_PORT,
    // The embedded database is for one machine, and so is what runs on it, unless told otherwise.
    host: HOST ?? (DATABASE_URL === undefined ? "127.0.0.1" : "0.0.0.0"),
    publicUrl: read.PUBLIC_URL,
    publicGrpcUrl: read.PUBLIC_GRPC_URL,
    trustedProxies: read.TRUSTED_PROXIES,
    oidc,
    mail: readMail(read),
    databaseUrl: DATABASE_URL,
    dataDir: DATA_DIR,
    redisUrl: REDIS_URL,
    webhookAllowLoopbackHttp: WEBHOOK_ALLOW_LOOPBACK_HTTP,
    secretsKeys: read.SECRETS_KEYS,
    stripe: readStripe(read),
    geocoder: readGeocoder(read),
    eventRetentionDays: EVENT_RETENTION_DAYS,
    maxDatabaseOutageSeconds: read.MAX_DATABASE_OUTAGE_SECONDS,
    shutdownDelaySeconds: read.SHUTDOWN_DELAY_SECONDS,
    dashboard: read.DASHBOARD === "on",
    mapTiles: readMapTiles(read),
    logLevel: read.LOG_LEVEL,
    logFormat: read.LOG_FORMAT,
    tracing: readTracing(read),
    warnings: findMisspelt(Object.keys(given)),
  });
}

function findMisspelt(given: readonly string[]): string[] {
  const names = Object.keys(environment.shape);
  return given.flatMap((name) => {
    const meant = names.includes(name) ? undefined : nearestName(name, names);
    return meant === undefined ? [] : `${name} has no effect; the service reads ${meant}`;
  });
}

/** @throws ConfigError when two servers are given the same port, other than 0 */
function assertPortsDiffer(ports: Readonly<Record<string, number | undefined>>): void {
  const byPort = Map.groupBy(Object.keys(ports), (variable) => ports[variable]);
  for (const [number, variables] of byPort) {
    if (!number || variables.length === 1) continue;
    const all = variables.length === 2 ? "both" : "all";
    const names = variables.join(" and ");
    throw new ConfigError(`${names} are ${all} ${number}: give them different ports`);
  }
}

/** @throws ConfigError when only a part of what signing in by OIDC needs is set */
function readOidc(data: z.output<typeof environment>): OidcConfig | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PUBLIC_URL } = data;
  const own = { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET };
  if (Object.values(own).every((value) => value === undefined)) return undefined;
  // The provider sends people back to the public address.
  const missing = Object.entries({ ...own, PUBLIC_URL }).filter(([, value]) => value === undefined);
  if (missing.length > 0) {
    const faults = missing.map(([name]) => `${name}: must be set for signing in by OIDC`);
    throw new ConfigError(faults.join("\n"));
  }
  return {
    issuer: OIDC_ISSUER!,
    clientId: OIDC_CLIENT_ID!,
    clientSecret: OIDC_CLIENT_SECRET!,
    assumeEmailVerified: data.OIDC_ASSUME_EMAIL_VERIFIED,
  };
}

/**
 * @throws ConfigError when only one of the two is set that the platform's account in a mode needs, and for a secret
 *   of both modes: it is the secret that says of which mode a notice is
 */
function readStripe(data: z.output<typeof environment>): StripeConfig {
  const platformOf = (infix: "" | "TEST_"): StripePlatform | undefined => {
    const secretKey = data[`STRIPE_${infix}SECRET_KEY`];
    const webhookSecrets = data[`STRIPE_${infix}WEBHOOK_SECRET`];
    if (secretKey !== undefined && webhookSecrets.length > 0) return { secretKey, webhookSecrets };
    if (secretKey === undefined && webhookSecrets.length === 0) return undefined;
    const missing = secretKey === undefined ? "SECRET_KEY" : "WEBHOOK_SECRET";
    throw new ConfigError(`STRIPE_${infix}${missing}: must be set for payments by Stripe`);
  };
  const platforms = { live: platformOf(""), test: platformOf("TEST_") };
  if (platforms.test?.webhookSecrets.some((it) => platforms.live?.webhookSecrets.includes(it))) {
    throw new ConfigError(
      "STRIPE_TEST_WEBHOOK_SECRET: must not have a secret of STRIPE_WEBHOOK_SECRET, but that of the endpoint in Stripe's test mode",
    );
  }
  return { apiUrl: data.STRIPE_API_URL, platforms };
}
