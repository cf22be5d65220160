import { sql, type EntityManager } from "@mikro-orm/postgresql";
import { pino } from "pino";
import type { OidcConfig } from "../../src/config/config.ts";
import type { OperatorRole } from "../../src/domain/roles.ts";
import { hashKey, lastFour, createSecretKey, createKeyId } from "../../src/domain/secret-key.ts";
import { OperatorKey } from "../../src/features/operators/operator-key.entity.ts";
import { Operator } from "../../src/features/operators/operator.entity.ts";
import { createApp, type App, type Outside } from "../../src/server/app.ts";
import { publishDocument } from "./publish-document.ts";
import { createDatabase, type TestDatabase } from "./database.ts";
import { endpointsAt, type Endpoints } from "./endpoints.ts";
import { makeWorkspace } from "./platform.ts";
import type { LogLine } from "./service-process.ts";
import { SAMPLE_TARIFF } from "./tariffs.ts";

/** A workspace of a test's own. */
export interface TestWorkspace {
  readonly id: number;
  readonly apiKey: string;
}

/** An operator of a test's own. */
export interface TestOperator {
  readonly id: number;
  readonly key: string;
}

/** A whole service in this process. */
export interface TestService extends Endpoints {
  readonly app: App;
  readonly databaseUrl: string;
  /** Where operators are served, if they are given a server of their own. */
  readonly operationsUrl: string | undefined;
  /** Makes a workspace, with the manual payment provider unless told otherwise. */
  addWorkspace(options?: { paymentProvider?: "manual" | undefined }): Promise<TestWorkspace>;
  /** Makes an operator; an owner unless told otherwise. */
  addOperator(role?: OperatorRole): Promise<TestOperator>;
  close(): Promise<void>;
}

/**
 * Starts a service with the sample tariff published, on a database of its own unless told which;
 * close it when done.
 */
export async function startService(
  options: ServiceOptions & { database?: TestDatabase } = {},
): Promise<TestService> {
  const database = options.database ?? (await createDatabase());
  const service = await startReplica(database.url, options);
  return {
    ...service,
    async close() {
      await service.close();
      await database.drop();
    },
  };
}

/** How a service under test differs from the usual one. */
interface ServiceOptions {
  readonly tariff?: unknown;
  readonly now?: () => Date;
  readonly outside?: Outside;
  /** Whether webhooks may go to this machine by http; they may unless told otherwise. */
  readonly webhookAllowLoopbackHttp?: boolean;
  /** Where replicas count calls together. */
  readonly redisUrl?: string;
  /** What seals secrets in the database. */
  readonly secretsKeys?: readonly Uint8Array[];
  /** How long events are kept, in days. */
  readonly eventRetentionDays?: number;
  /** How long an event may be held back before the service is not ready, in seconds. */
  readonly maxEventDelaySeconds?: number;
  /** How long the database may be away before the service is not ready, in seconds. */
  readonly maxDatabaseOutageSeconds?: number;
  /** The port of the HTTP server; any free one unless told otherwise. */
  readonly port?: number;
  /** The port of a server for operators; there is none unless given. */
  readonly operationsPort?: number;
  /** Where browsers reach the service. */
  readonly publicUrl?: string;
  readonly publicGrpcUrl?: string;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
  /** The identity provider at which people may sign in. */
  readonly oidc?: OidcConfig;
  /** Called with each line of the log. */
  readonly logged?: (line: LogLine) => void;
  /** Whether the dashboard is served; it is not unless told otherwise. */
  readonly dashboard?: boolean;
}

/** Starts a service with the tariff published, on a database that stays there when it is closed. */
export async function startReplica(
  databaseUrl: string,
  options: ServiceOptions = {},
): Promise<TestService> {
  const { webhookAllowLoopbackHttp = true, redisUrl } = options;
  const { eventRetentionDays, maxEventDelaySeconds, oidc, trustedProxies } = options;
  const { publicUrl, publicGrpcUrl } = options;
  const { dashboard = false, secretsKeys, maxDatabaseOutageSeconds } = options;
  const config = {
    host: "127.0.0.1",
    port: options.port ?? 0,
    grpcPort: 0,
    operationsPort: options.operationsPort,
    databaseUrl,
    webhookAllowLoopbackHttp,
    redisUrl,
    secretsKeys,
    eventRetentionDays,
    publicUrl,
    publicGrpcUrl,
    trustedProxies,
    oidc,
    dashboard,
    ...(maxEventDelaySeconds === undefined ? {} : { maxEventDelaySeconds }),
    ...(maxDatabaseOutageSeconds === undefined ? {} : { maxDatabaseOutageSeconds }),
  };
  const { log, undeclared } = watchForUndeclared(options.logged);
  const app = createApp(config, log, {
    ...options.outside,
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  const { http, grpc, operations } = await app.listen();
  const tariff = options.tariff ?? SAMPLE_TARIFF;
  await publishDocument(app.em, tariff);
  await app.prepare();
  return {
    ...endpointsAt(`http://127.0.0.1:${http.port}`, `http://127.0.0.1:${grpc.port}`),
    app,
    databaseUrl,
    operationsUrl: operations && `http://127.0.0.1:${operations.port}`,
    addWorkspace: ({ paymentProvider } = { paymentProvider: "manual" }) =>
      makeWorkspace(app.em, { name: "Test", paymentProvider }),
    addOperator: (role = "owner") => addOperator(app.em, role),
    async close() {
      await app.close();
      if (undeclared.length > 0) throw new Error(`undeclared refusals: ${undeclared.join("")}`);
    },
  };
}

/** A log that is dropped, unless the test reads it, but for refusals that their methods do not declare. */
function watchForUndeclared(logged?: (line: LogLine) => void) {
  const undeclared: string[] = [];
  const write = (line: string) => {
    if (line.includes('"undeclared refusal"')) undeclared.push(line);
    logged?.(JSON.parse(line) as LogLine);
  };
  return { log: pino({ level: logged === undefined ? "error" : "info" }, { write }), undeclared };
}

async function addOperator(em: EntityManager, role: OperatorRole): Promise<TestOperator> {
  const tx = em.fork();
  const key = createSecretKey("sho_");
  const operator = { name: `Test ${role}`, kind: "machine", role, createdAt: new Date() } as const;
  const id = Number(await tx.insert(Operator, operator));
  await tx.insert(OperatorKey, {
    hash: hashKey(key),
    operator: id,
    id: createKeyId(),
    last4: lastFour(key),
    createdAt: sql`now()`,
    changedAt: sql`now()`,
  });
  return { id, key };
}

/** A service that listens and has not been prepared, so that it takes no calls yet. */
export interface UnpreparedService extends Endpoints {
  readonly app: App;
}

/** Starts a service that takes no calls before its `app.prepare()`; close `app` when done. */
export async function startUnprepared(
  databaseUrl = "postgres://nobody@127.0.0.1:1/none",
  publicUrl?: string,
): Promise<UnpreparedService> {
  const config = { host: "127.0.0.1", port: 0, grpcPort: 0, databaseUrl, publicUrl };
  const app = createApp(config, pino({ level: "silent" }));
  const { http, grpc } = await app.listen();
  return {
    ...endpointsAt(`http://127.0.0.1:${http.port}`, `http://127.0.0.1:${grpc.port}`),
    app,
  };
}
