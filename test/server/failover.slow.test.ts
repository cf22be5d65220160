import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { migrate, migrateWhenReachable } from "../../src/db/migrate.ts";
import { createOrm, MAX_CONNECTIONS } from "../../src/db/orm.ts";
import { primaryFinder } from "../../src/db/primary-finder.ts";
import { startBookingLoad } from "../support/booking-load.ts";
import { BOOKING } from "../support/bookings.ts";
import { errorBody } from "../support/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { startReceiver } from "../support/receiver.ts";
import { startServerPair, type PairServer, type ServerPair } from "../support/server-pair.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { startReplica, type TestService } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { addWebhook } from "../support/webhooks.ts";

let pair: ServerPair;
let service: TestService;
let workspace: number;
let apiKey: string;

beforeEach(async () => {
  pair = await startServerPair();
  await migrate(pair.url);
  // Waits as long as in production, because the test also covers late responses from a lost server.
  service = await startReplica(pair.url, { outside: { maxWaitMs: 2_000 } });
  ({ id: workspace, apiKey } = await service.addWorkspace());
  // Removes the rate limits, which this test does not cover.
  await service.app.em.execute(
    `insert into workspace_limit (workspace_id, limit_class, rate, burst)
     select ?, class, 100000, 100000 from unnest('{quote,read,write}'::text[]) as class`,
    [workspace],
  );
});

afterEach(async () => {
  await pair.close();
});

const book = (key: string) =>
  service.request("/v1/shipments", {
    apiKey,
    body: BOOKING,
    headers: { "idempotency-key": key },
  });

/** Follows the feed until stopped. Returns the subjects of all creation events. */
function followFeed(reader: Pick<TestService, "request">) {
  const seen: string[] = [];
  let cursor = "";
  let isStopping = false;
  const reading = (async () => {
    for (;;) {
      const after = cursor === "" ? "" : `&after=${cursor}`;
      const path = `/v1/events?types=shipment.created&page_size=100${after}`;
      const answer = await reader.request(path, { apiKey }).catch(() => undefined);
      if (answer?.status !== 200) {
        await sleep(20);
        continue;
      }
      for (const { shipment } of answer.body.data) seen.push(shipment);
      cursor = answer.body.cursor;
      if (answer.body.data.length === 0) {
        if (isStopping) return;
        await sleep(20);
      }
    }
  })();
  return {
    seen,
    async stop() {
      isStopping = true;
      await reading;
    },
  };
}

test("when the primary is killed under load and its standby promoted, everything acknowledged is stored once, in the feed and delivered", async () => {
  const other = await startServiceProcess({
    DATABASE_URL: pair.url,
    WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
  });
  await other.untilReady();
  const receiver = await startReceiver();
  await addWebhook(service, apiKey, { url: receiver.url, types: ["shipment.created"] });
  const feed = followFeed(other);
  const load = startBookingLoad([service, other], apiKey);
  await eventually("bookings on the first server", () => load.acknowledged.size >= 50);

  pair.first.kill();
  await pair.second.promote();
  const before = load.acknowledged.size;
  await eventually("bookings on the second", () => load.acknowledged.size >= before + 50);
  await load.stop();
  await feed.stop();

  const acknowledged = [...load.acknowledged.values()].sort();
  const stored = await pair.second.query(`select reference from shipment order by reference`);
  expect(stored.map(({ reference }) => reference)).toEqual(acknowledged);
  expect([...feed.seen].sort()).toEqual(acknowledged);
  const sent = () => new Set(receiver.received.map(({ body }) => body.shipment));
  await eventually("every webhook", () => sent().size === acknowledged.length);
  for (const status of load.refused.keys()) expect(status).toMatch(/^503 |^lost$|^409 /);

  // Each replica must receive the other one's changes through the new primary.
  await eventually("both change feeds", async () => {
    const feeds = `select from pg_stat_activity where application_name = 'shipments changes'`;
    return (await pair.second.query(feeds)).length === 2;
  });
  const { body } = await service.request("/v1/api_keys", { apiKey, body: { name: "New" } });
  const made = body.api_key as string;
  await eventually("the new key at the other replica", async () => {
    const answer = await other.request("/v1/workspace", { apiKey: made });
    return answer.status === 200;
  });
  await receiver.close();

  // Expects that a former primary gets no writes after it returns as a standby.
  await pair.first.startAsStandby();
  const again = startBookingLoad([service, other], apiKey, 2);
  const known = again.acknowledged.size;
  await eventually("more bookings", () => again.acknowledged.size >= known + 10);
  await again.stop();
  expect(await pair.first.query("select pg_is_in_recovery() as standby")).toEqual([{ standby: true }]);
});

test("replaces connections to a primary that becomes read-only with connections to the writable server", async () => {
  await eventually("a booking on the first server", async () => (await book("before")).status === 201);
  await pair.second.promote();
  await pair.first.query("alter system set default_transaction_read_only = on");
  await pair.first.query("select pg_reload_conf()");
  await eventually("the first server to be read-only", async () => {
    const [row] = await pair.first.query("show default_transaction_read_only");
    return row.default_transaction_read_only === "on";
  });
  const refused: number[] = [];
  await eventually("a booking on the second server", async () => {
    const { status } = await book("after");
    if (status !== 201) refused.push(status);
    return status === 201;
  });
  // Each refused call closes its connection.
  expect(refused.length).toBeLessThanOrEqual(MAX_CONNECTIONS);
  expect(new Set([503, ...refused])).toEqual(new Set([503]));
  expect(await pair.second.query("select count(*)::int as count from shipment")).toEqual([{ count: 2 }]);
  expect(await pair.first.query("select count(*)::int as count from shipment")).toEqual([{ count: 1 }]);
});

test("switches from a primary that is silently cut off to the promoted server", async () => {
  const proxy = await startTcpProxy(pair.first.url);
  const [near, far] = [proxy.url, pair.second.url].map((url) => new URL(url).host);
  const url = pair.first.url.replace(/@[^/]*/, `@${near},${far}`);
  const cut = await startReplica(url, { outside: { maxWaitMs: 5_000 } });
  const sent = (key: string) =>
    cut.request("/v1/shipments", { apiKey, body: BOOKING, headers: { "idempotency-key": key } });
  await eventually("a booking on the first server", async () => (await sent("before")).status === 201);
  proxy.hang();
  const waiting = sent("meanwhile");
  await pair.second.promote();
  await eventually("a booking on the second server", async () => (await sent("after")).status === 201);
  expect((await waiting).status).toBe(503);
  await eventually("the other booking", async () => (await sent("meanwhile")).status === 201);
  expect(await pair.second.query("select count(*)::int as count from shipment")).toEqual([{ count: 3 }]);
});

/**
 * Kills the standby and waits until it is disconnected. Its WAL receiver can briefly outlive the
 * other processes and confirm a booking.
 */
async function killStandby(): Promise<void> {
  pair.second.kill();
  await eventually("the standby to disconnect", async () => {
    return (await pair.first.query("select from pg_stat_replication")).length === 0;
  });
}

test("does not acknowledge a booking whose wait for a synchronous standby fails or is cancelled, and books once when it is retried", async () => {
  await eventually("a booking on the first server", async () => (await book("before")).status === 201);
  await killStandby();
  const { status, headers, body } = await book("alone");
  expect({ status, retryAfter: headers.get("retry-after"), body }).toEqual({
    status: 503,
    retryAfter: "1",
    body: errorBody("The service cannot reach its database. Try again in a moment."),
  });
  await pair.second.startAsStandby();
  await eventually("the booking", async () => (await book("alone")).status === 201);
  await eventually("the booking on the standby", async () => {
    const [row] = await pair.second.query("select count(*)::int as count from shipment");
    return row.count === 2;
  });
  await killStandby();
  const booking = book("cancelled");
  const cancel =
    "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and pid <> pg_backend_pid()";
  await eventually("the commit to wait", async () => (await pair.first.query(cancel)).length > 0);
  expect((await booking).status).toBe(503);
});

test("finds the writable server at any position in the URL, and names each server with the reason while none is writable", async () => {
  for (const target of ["read-write", "primary"]) {
    const url = reversed(pair.url).replace("read-write", target);
    const orm = createOrm(url, { entities: [] });
    const rows = await orm.em.execute("select inet_server_port()::text as port");
    expect(rows).toEqual([{ port: new URL(pair.first.url).port }]);
    await orm.close();
  }
  pair.first.kill();
  // The processes are reaped a moment later. Until then, connections are accepted and reset.
  await eventually("its port to be closed", () => isRefused(new URL(pair.first.url)));
  const [first, second] = [pair.first, pair.second].map(({ url }) => new URL(url).host);
  // Uses a URL for which no result is cached.
  await expect(migrate(pair.url.replace("read-write", "primary"))).rejects.toThrow(
    `cannot use the database: no server listens at ${first}, ${second} is a standby; promote one, or correct DATABASE_URL`,
  );
});

/** Returns the pair's URL with its hosts reversed. No process has cached a result for this URL. */
function reversed(url: string): string {
  const [, hosts] = /@([^/]*)\//.exec(url)!;
  return url.replace(hosts!, hosts!.split(",").toReversed().join(","));
}

const bookingsOf = async (server: PairServer) => {
  const [row] = await server.query("select count(*)::int as count from shipment");
  return row.count as number;
};

test("of two writable servers, a starting process books on the promoted one, at any position", async () => {
  await pair.second.promote();
  await pair.first.startAlone();
  for (const url of [pair.url.replace("read-write", "primary"), reversed(pair.url)]) {
    const started = await startReplica(url);
    const { apiKey: own } = await started.addWorkspace();
    const { status } = await started.request("/v1/shipments", { apiKey: own, body: BOOKING });
    expect(status).toBe(201);
    await started.close();
  }
  expect([await bookingsOf(pair.first), await bookingsOf(pair.second)]).toEqual([0, 2]);
});

test("a process does not return to a writable former primary while the newer one is down", async () => {
  pair.first.kill();
  await pair.second.promote();
  await eventually("a booking", async () => (await book("before")).status === 201);
  pair.second.kill();
  await pair.first.startAlone();
  expect((await book("meanwhile")).status).toBe(503);
  const [first] = [pair.first, pair.second].map(({ url }) => new URL(url).host);
  // Polls, because a failed search is cached briefly, including one from before the server was up.
  const searchFault = () => primaryFinder(pair.url)!.find().catch(String);
  await expect
    .poll(searchFault)
    .toContain(
      `cannot use the database: ${first} accepts writes on timeline 1 but is a former primary, because timeline 2 was used before; start the newer server, or restart the service to use this one`,
    );
  await pair.second.startAlone();
  await eventually("the booking", async () => (await book("meanwhile")).status === 201);
  expect([await bookingsOf(pair.first), await bookingsOf(pair.second)]).toEqual([0, 2]);
});

test("refuses two writable servers on one timeline or in two clusters until only one is left", async () => {
  pair.second.kill();
  await pair.first.startAlone();
  await pair.second.startAlone();
  const other = await startServerPair();
  onTestFinished(other.close);
  const [first, second, foreign] = [pair.first, pair.second, other.first].map(({ url }) => new URL(url).host);
  const url = reversed(pair.url);
  await expect(primaryFinder(url)!.find()).rejects.toThrow(
    `cannot use the database: ${second} and ${first} accept writes on the same timeline, 1, so the primary cannot be determined; stop all but one, or make them its standbys`,
  );
  const { password } = new URL(pair.first.url);
  await other.first.startAlone();
  await other.first.query(`alter role ${new URL(pair.first.url).username} password '${password}'`);
  await expect(primaryFinder(pair.first.url.replace(first!, `${first},${foreign}`))!.find()).rejects.toThrow(
    `cannot use the database: ${first} and ${foreign} accept writes and belong to different clusters, so the primary cannot be determined; stop all but one, or make them its standbys`,
  );

  const waiting: string[] = [];
  const migrating = migrateWhenReachable(url, { onWaiting: (reason) => waiting.push(reason) });
  await eventually("the log to report the wait", () => waiting.length > 0);
  pair.first.kill();
  expect(await migrating).toEqual([]);
  expect(waiting[0]).toContain("accept writes on the same timeline");
});

function isRefused({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  });
}
