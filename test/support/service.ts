import { sql, type EntityManager } from "@mikro-orm/postgresql";
import { pino } from "pino";
import type { OperatorRole } from "../../src/domain/roles.ts";
import { hashKey, lastFour, createSecretKey, createKeyId } from "../../src/domain/secret-key.ts";
import { OperatorKey } from "../../src/features/operators/operator-key.entity.ts";
import { Operator } from "../../src/features/operators/operator.entity.ts";
import { createApp, type App, type AppConfig, type AppOverrides } from "../../src/server/app.ts";
import { createDatabase, createDatabaseWithTariff, createSharedDatabase } from "./database.ts";
import { endpointsAt, type Endpoints } from "./endpoints.ts";
import { TEST_MS } from "./limits.ts";
import { makeWorkspace, type TestWorkspace } from "./platform.ts";
import { publishDocument } from "./publish-document.ts";
import type { LogLine } from "./service-process.ts";
import { SAMPLE_TARIFF } from "./tariffs.ts";
import { whenOver } from "./when-over.ts";

export type { TestWorkspace };

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
  /** Makes a workspace and its test twin, with the manual payment provider unless told otherwise. */
  addWorkspace(options?: {
    paymentProvider?: "manual" | undefined;
  }): Promise<TestWorkspace & { readonly twin: TestWorkspace }>;
  /** Makes an operator; an owner unless told otherwise. */
  addOperator(role?: OperatorRole): Promise<TestOperator>;
}

/** A service that a test or its file has started, and that is closed when that is over. */
export interface StartedService extends TestService {
  /** Closes it before that. */
  close(): Promise<void>;
}

/** How a service under test differs from the usual one: by settings, and by these. */
interface ServiceOptions extends Partial<Omit<AppConfig, "databaseUrl">> {
  readonly tariff?: unknown;
  readonly now?: () => Date;
  readonly outside?: AppOverrides;
  /** Called with each line of the log. */
  readonly logged?: (line: LogLine) => void;
}

/** A service that listens, and the check that it refused nothing for a reason its method does not declare. */
type Launched = readonly [TestService, assertDeclared: () => void];

let shared: Promise<Launched> | undefined;

/**
 * How often the shared service looks by itself, in milliseconds: seldom, as it is idle most of the time, and
 * what the tests do is announced.
 */
const LOOK_MS = 5_000;

/** For a service that a test waits for: what it does by itself, it does soon. */
export const HURRIED: AppOverrides = { pollMs: 50, maxRestMs: 200 };

/**
 * The service that every file of this worker may use, with the sample tariff in force: workspaces keep
 * files apart. A file that needs a setting, changes the tariff or the schema, makes many drafts, looks at
 * all that belongs to the platform, waits for what falls due, or has the service fail, starts its own.
 */
export async function sharedService(): Promise<TestService> {
  // It ends with the worker, and its database with the run.
  shared ??= createSharedDatabase().then((url) => launch(url, { outside: { pollMs: LOOK_MS } }));
  const [service, assertDeclared] = await shared;
  whenOver(assertDeclared);
  return service;
}

/** Starts a service with the sample tariff published, on a database of its own unless told which. */
export async function startService(
  options: ServiceOptions & { readonly database?: { readonly url: string } } = {},
): Promise<StartedService> {
  const { database, ...rest } = options;
  const create = rest.tariff === undefined ? createDatabaseWithTariff : createDatabase;
  return startReplica((database ?? (await create())).url, rest);
}

/** Starts a service on a database that is there, and publishes the tariff, or the sample where none is. */
export async function startReplica(
  databaseUrl: string,
  options: ServiceOptions = {},
): Promise<StartedService> {
  const [service, assertDeclared] = await launch(databaseUrl, options);
  return { ...service, close: whenOver(() => service.app.close().then(assertDeclared)) };
}

async function launch(databaseUrl: string, options: ServiceOptions): Promise<Launched> {
  const { tariff, now, outside, logged, ...settings } = options;
  const undeclared: string[] = [];
  const write = (line: string) => {
    if (line.includes('"undeclared refusal"')) undeclared.push(line);
    logged?.(JSON.parse(line) as LogLine);
  };
  const app = createApp(
    { ...ANY_PORTS, webhookAllowLoopbackHttp: true, ...settings, databaseUrl },
    pino({ level: logged === undefined ? "error" : "info", formatters: BY_NAME }, { write }),
    { maxWaitMs: TEST_MS, ...outside, ...(now === undefined ? {} : { now }) },
  );
  const operations = await app.listenForOperators();
  const operationsUrl = operations && `http://127.0.0.1:${operations.port}`;
  const published = await app.em.execute("select 1 from tariff_version limit 1");
  if (tariff !== undefined || published.length === 0)
    await publishDocument(app.em, tariff ?? SAMPLE_TARIFF);
  await app.prepare();
  const endpoints = await listen(app);
  const service = {
    ...endpoints,
    app,
    databaseUrl,
    operationsUrl,
    addWorkspace: ({ paymentProvider } = { paymentProvider: "manual" as "manual" | undefined }) =>
      makeWorkspace(app.em, { name: "Test", paymentProvider }),
    addOperator: (role: OperatorRole = "owner") => addOperator(app.em, role),
  };
  const assertDeclared = () => {
    const lines = undeclared.splice(0);
    if (lines.length > 0) throw new Error(`undeclared refusals: ${lines.join("")}`);
  };
  return [service as TestService, assertDeclared];
}

/** Levels as the process's own log has them. */
const BY_NAME = { level: (level: string) => ({ level }) };

const ANY_PORTS = { host: "127.0.0.1", port: 0, grpcPort: 0 };

async function listen(app: App): Promise<Endpoints> {
  const { http, grpc } = await app.listen();
  const [httpUrl, grpcUrl] = [http, grpc].map(({ port }) => `http://127.0.0.1:${port}`);
  return endpointsAt(httpUrl!, grpcUrl!);
}

/** Adds an operator who is a machine, with a key. */
export async function addOperator(em: EntityManager, role: OperatorRole): Promise<TestOperator> {
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

/** A service that listens and has not been prepared, so that it knows no tariff yet. */
export interface UnpreparedService extends Endpoints {
  readonly app: App;
}

/** Starts a service without a tariff before its `app.prepare()`, until the test or its file is over. */
export async function startUnprepared(
  databaseUrl = "postgres://nobody@127.0.0.1:1/none",
  publicUrl?: string,
): Promise<UnpreparedService> {
  const config = { ...ANY_PORTS, databaseUrl, publicUrl };
  const app = createApp(config, pino({ level: "silent" }));
  whenOver(() => app.close());
  return { ...(await listen(app)), app };
}
