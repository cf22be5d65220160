import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { beforeEach, expect, test } from "vitest";
import { createOrm } from "../../src/db/orm.ts";
import { primaryFinder, type PrimaryFinder } from "../../src/db/primary-finder.ts";
import { connectTo, createDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

let database: TestDatabase;
/** Two proxies in front of the same server. */
let first: TcpProxy;
let second: TcpProxy;
let url: string;
let finder: PrimaryFinder;

beforeEach(async () => {
  database = await createDatabase();
  first = await startTcpProxy(database.url);
  second = await startTcpProxy(database.url);
  url = first.url.replace(/@[^/]*/, (host) => `${host},${new URL(second.url).host}`);
  finder = primaryFinder(url)!;
});

const serverOf = ({ url }: TcpProxy) =>
  expect.objectContaining({ url, host: "127.0.0.1", port: Number(new URL(url).port) });

test("a starting process uses the first of two addresses of one server", async () => {
  expect(await finder.find()).toEqual(serverOf(first));
});

test("reconnects to the last address of the primary, even if an earlier address reaches the same server", async () => {
  await first.goDown();
  const orm = createOrm(url, { entities: [] });
  const pid = async () => {
    const [row] = await orm.em.execute("select pg_backend_pid() as pid");
    return row!.pid as number;
  };
  const before = await pid();
  await first.comeBack();

  const admin = await connectTo(database.url);
  await admin.query("select pg_terminate_backend($1::int)", [before]);
  await eventually("another connection", async () => {
    const now = await pid().catch(() => before);
    return now !== before;
  });
  expect(await finder.find()).toEqual(serverOf(second));
  await admin.end();
  await orm.close();
});

test("switches from a primary that refuses connections to a server that accepts writes", async () => {
  await first.goDown();
  expect(await finder.find()).toEqual(serverOf(second));
  await first.comeBack();
  await second.goDown();
  finder.lost(second.url);
  expect(await finder.find()).toEqual(serverOf(first));
});

test("callers right after a failed search share its error, and a later search finds the new primary", async () => {
  await first.goDown();
  await second.goDown();
  const errorOf = () => finder.find().catch((error: unknown) => error);
  const error = await errorOf();
  expect(error).toBeInstanceOf(Error);
  expect(await errorOf()).toBe(error);
  await second.comeBack();
  const found = await eventually("a server", () => finder.find().catch(() => undefined));
  expect(found).toEqual(serverOf(second));
});

test("reports servers that accept connections but do not respond, and poolers that do not answer queries", async () => {
  first.hang();
  const pooler = createServer((socket) => {
    socket.on("error", () => undefined);
    // Sends AuthenticationOk and ReadyForQuery, without any parameters between them.
    socket.once("data", () => socket.write("R\0\0\0\u0008\0\0\0\0Z\0\0\0\u0005I"));
  }).listen(0, "127.0.0.1");
  await once(pooler, "listening");
  const hosts = [new URL(first.url).host, `127.0.0.1:${(pooler.address() as AddressInfo).port}`];
  const silent = primaryFinder(first.url.replace(/@[^/]*/, `@${hosts.join(",")}`))!;
  await expect(silent.find()).rejects.toThrow(
    `cannot use the database: ${hosts[0]} does not respond, ${hosts[1]} does not respond; check DATABASE_URL`,
  );
  pooler.close();
});
