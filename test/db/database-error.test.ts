import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { databaseRefusal, isTransientDatabaseError } from "../../src/db/database-error.ts";
import { createOrm } from "../../src/db/orm.ts";
import { connectTo, createDatabase } from "../support/database.ts";

const database = await createDatabase();

/** Server that handles connections as the test requires. */
let server: Server;
let onConnection: (socket: Socket) => void;
const sockets = new Set<Socket>();
beforeEach(async () => {
  onConnection = () => undefined;
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, "close");
});

const serverUrl = () => `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`;

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable("it did not fail"),
    (error: unknown) => error,
  );
}

test("a server that accepts a connection but never responds causes a transient error", async () => {
  const options = { connectionString: serverUrl(), connectionTimeoutMillis: 50 };
  expect(isTransientDatabaseError(await errorOf(new pg.Client(options).connect()))).toBe(true);
  const pool = new pg.Pool(options);
  expect(isTransientDatabaseError(await errorOf(pool.query("select")))).toBe(true);
  await pool.end();
});

test("a server that closes a connection before or during the TLS handshake causes a transient error", async () => {
  const connectionString = serverUrl();
  for (const act of [
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.once("data", () => socket.destroy()),
    (socket: Socket) => socket.once("data", () => socket.write("E")),
  ]) {
    onConnection = act;
    const client = new pg.Client({ connectionString, ssl: true });
    expect(isTransientDatabaseError(await errorOf(client.connect()))).toBe(true);
  }
});

test("a query after the pool has closed causes a transient error", async () => {
  const pool = new pg.Pool({ connectionString: database.url });
  await pool.end();
  expect(isTransientDatabaseError(await errorOf(pool.query("select")))).toBe(true);
  const orm = createOrm(database.url, { entities: [] });
  await orm.em.fork().execute("select");
  await orm.driver.getConnection().getClient().destroy();
  expect(isTransientDatabaseError(await errorOf(orm.em.fork().execute("select")))).toBe(true);
});

test("a write on a read-only server is refused with its own message", async () => {
  const client = await connectTo(database.url);
  await client.query("set default_transaction_read_only = on");
  const error = await errorOf(client.query("create table written ()"));
  await client.end();
  expect(databaseRefusal(error)).toMatchObject({
    reason: "UNAVAILABLE",
    message: "The service's database is read-only, so changes are refused. Try again later.",
  });
});

test("a statement that exceeds its timeout is refused as too slow, without a retry delay", async () => {
  const client = await connectTo(database.url);
  await client.query("set statement_timeout = 10");
  const error = await errorOf(client.query("select pg_sleep(60)"));
  await client.end();
  const refusal = databaseRefusal(new Error("the query failed", { cause: error }));
  expect(refusal).toMatchObject({
    reason: "REQUEST_TOO_SLOW",
    message:
      "The request took longer than the service allows and was stopped. Request less at a time, or try again in a few minutes.",
    retryAfterSeconds: undefined,
  });
});

test.each(["select from nowhere", "select 1 / 0", "selec"])("the error of %s is not transient", async (sql) => {
  const client = await connectTo(database.url);
  const error = await errorOf(client.query(sql));
  await client.end();
  expect(isTransientDatabaseError(error)).toBe(false);
});

test("reports a full disk, conflicting transactions and an unreachable database with different messages", () => {
  const full = Object.assign(new Error("could not extend file"), { code: "53100" });
  expect(databaseRefusal(new Error("the commit failed", { cause: full }))?.message).toBe(
    "The service's database has no space left on its disk. Try again later.",
  );
  for (const code of ["40P01", "40001", "55P03"]) {
    expect(databaseRefusal(Object.assign(new Error("conflict"), { code }))?.message).toBe(
      "The service is busy with other calls. Try again in a moment.",
    );
  }
  const away = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  expect(databaseRefusal(away)?.message).toBe("The service cannot reach its database. Try again in a moment.");
  expect(databaseRefusal(new Error("a defect"))).toBeUndefined();
});
