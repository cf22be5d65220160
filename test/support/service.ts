import { sql, type EntityManager } from "@mikro-orm/postgresql";
import { pino } from "pino";
import type { OperatorRole } from "../../src/domain/roles.ts";
import { hashKey, lastFour, createSecretKey, createId } from "../../src/domain/secret-key.ts";
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

export interface TestOperator {
  readonly id: number;
  readonly key: string;
}

/** A complete service that runs in this process. */
export interface TestService extends Endpoints {
  readonly app: App;
  readonly databaseUrl: string;
  /** URL of the operations server, if it is separate. */
  readonly operationsUrl: string | undefined;
  /** Creates a workspace, by default with the manual payment provider, and its test twin. */
  addWorkspace(options?: {
    paymentProvider?: "manual" | undefined;
  }): Promise<TestWorkspace & { readonly twin: TestWorkspace }>;
  /** Creates an operator with a role, by default owner. */
  addOperator(role?: OperatorRole): Promise<TestOperator>;
}

/** A service that a test or its file started, and that closes with it. */
export interface StartedService extends TestService {
  /** Closes the service early. */
  close(): Promise<void>;
}

/** Settings and overrides of a service under test. */
interface ServiceOptions extends Partial<Omit<AppConfig, "databaseUrl">> {
  readonly tariff?: unknown;
  readonly now?: () => Date;
  readonly outside?: AppOverrides;
  readonly logged?: (line: LogLine) => void;
}

/** A running service, and an assertion that methods declare every reason for which they refused a call. */
type Launched = readonly [TestService, assertDeclared: () => void];

let shared: Promise<Launched> | undefined;

/** Poll interval of the shared service, in milliseconds. Long, because tests announce their changes. */
const POLL_MS = 5_000;

/** Overrides for tests that wait for background work. They shorten its intervals. */
export const HURRIED: AppOverrides = { pollMs: 50, maxRestMs: 200 };

/**
 * Returns the service that all files of this worker share, with the sample tariff in force. Each file uses its own
 * workspaces. Start a separate service to change settings, the tariff or the schema, to create many drafts, to use
 * platform-wide data, to wait for due work, or to make the service fail.
 */
export async function sharedService(): Promise<TestService> {
  // Stops with the worker. Its database is dropped at the end of the run.
  shared ??= createSharedDatabase().then((url) => launch(url, { outside: { pollMs: POLL_MS } }));
  const [service, assertDeclared] = await shared;
  whenOver(assertDeclared);
  return service;
}

/** Starts a service with the sample tariff, by default on a new database. */
export async function startService(
  options: ServiceOptions & { readonly database?: { readonly url: string } } = {},
): Promise<StartedService> {
  const { database, ...rest } = options;
  const create = rest.tariff === undefined ? createDatabaseWithTariff : createDatabase;
  return startReplica((database ?? (await create())).url, rest);
}

/** Starts a service on an existing database. Publishes the given tariff, or the sample if absent yet. */
export async function startReplica(databaseUrl: string, options: ServiceOptions = {}): Promise<StartedService> {
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
  if (tariff !== undefined || published.length === 0) await publishDocument(app.em, tariff ?? SAMPLE_TARIFF);
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

/** Logs level names instead of numbers, as the production log does. */
const BY_NAME = { level: (level: string) => ({ level }) };

const ANY_PORTS = { host: "127.0.0.1", port: 0, grpcPort: 0 };

async function listen(app: App): Promise<Endpoints> {
  const { http, grpc } = await app.listen();
  const [httpUrl, grpcUrl] = [http, grpc].map(({ port }) => `http://127.0.0.1:${port}`);
  return endpointsAt(httpUrl!, grpcUrl!);
}

/** Creates a machine operator with a key. */
export async function addOperator(em: EntityManager, role: OperatorRole): Promise<TestOperator> {
  const tx = em.fork();
  const key = createSecretKey("sho_");
  const operator = { name: `Test ${role}`, kind: "machine", role, createdAt: new Date() } as const;
  const id = Number(await tx.insert(Operator, operator));
  await tx.insert(OperatorKey, {
    hash: hashKey(key),
    operator: id,
    id: createId("key"),
    last4: lastFour(key),
    createdAt: sql`now()`,
    changedAt: sql`now()`,
  });
  return { id, key };
}

/** A listening service whose `prepare` has not run yet, without a tariff. */
export interface UnpreparedService extends Endpoints {
  readonly app: App;
}

/** Starts a service without a tariff that has not run `app.prepare()`, until the end of the test or its file. */
export async function startUnprepared(
  databaseUrl = "postgres://nobody@127.0.0.1:1/none",
  publicUrl?: string,
): Promise<UnpreparedService> {
  const config = { ...ANY_PORTS, databaseUrl, publicUrl };
  const app = createApp(config, pino({ level: "silent" }));
  whenOver(() => app.close());
  return { ...(await listen(app)), app };
}
