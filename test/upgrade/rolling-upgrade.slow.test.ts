import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Event } from "../../gen/shipments/v1/event_pb.js";
import { EventService, type WatchEventsResponse } from "../../gen/shipments/v1/event_service_pb.js";
import { MIGRATIONS } from "../../src/db/migration-list.ts";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { BOOKING, BOOKING_PRICE } from "../support/bookings.ts";
import type { Environment } from "../support/command.ts";
import { connectTo, createDatabase, createUnmigratedDatabase, type TestDatabase } from "../support/database.ts";
import type { Answer } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { checkOut, hasCode, nameOfLastRelease, type Release } from "../support/last-release.ts";
import { makeWorkspace } from "../support/platform.ts";
import { publishDocument } from "../support/publish-document.ts";
import { startReceiver } from "../support/receiver.ts";
import { FREE_PORTS, startServiceProcess, untilListening, type ServiceProcess } from "../support/service-process.ts";
import { take } from "../support/take.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";

const LAST_RELEASE = nameOfLastRelease();
/** Duration of bookings before, between and after the steps of an upgrade, in milliseconds. */
const A_WHILE_MS = 300;

const title = hasCode(LAST_RELEASE)
  ? `beside ${LAST_RELEASE}, the last release`
  : `beside ${LAST_RELEASE}, the last release (skipped: this clone does not contain its code)`;

describe.runIf(hasCode(LAST_RELEASE))(title, () => {
  let release: Release;

  beforeAll(() => {
    release = checkOut(LAST_RELEASE);
  });

  afterAll(() => release.remove());

  test("upgrading replica by replica fails no booking and books none twice", async () => {
    const { environment, apiKey } = await fill(release);
    const old = await startRelease(release, environment);
    const callers = startCallers([old], apiKey);
    await sleep(A_WHILE_MS);
    const missing = await migrationsMissing(environment);
    // Migrates during calls. This is a no-op if the release has all migrations.
    const next = await startServiceProcess(environment);
    await next.untilReady();
    expect(next.log().flatMap(({ applied }) => applied ?? [])).toEqual(missing);
    callers.addServer(next);
    await sleep(A_WHILE_MS);
    old.process.kill("SIGTERM");
    expect(await old.ended).toMatchObject({ code: 0, stderr: "" });
    await sleep(A_WHILE_MS);
    const references = await callers.end();
    expect(await listReferences(next, apiKey)).toEqual(references.toSorted());
    expect(failures(old)).toEqual([]);
    expect(failures(next)).toEqual([]);
  });

  test("each version reads and cancels the other's bookings and repeats the other's stored responses", async () => {
    const { old, next, apiKey } = await startBoth(release);
    for (const [here, there] of [
      [old, next],
      [next, old],
    ] as const) {
      // This version's response may have fields that the release's response lacks.
      const expectSame = (byHere: Answer, byThere: Answer) => {
        const [less, more] = here === old ? [byHere, byThere] : [byThere, byHere];
        expect(more.body).toMatchObject(less.body);
      };
      const key = `at-${here.httpUrl}`;
      const booked = await book(here, apiKey, key);
      expect(booked).toMatchObject({ status: 201, body: { data: BOOKING_PRICE } });
      const again = await book(there, apiKey, key);
      expect(again.status).toBe(201);
      expectSame(booked, again);
      const { reference } = booked.body.data;
      const path = `/v1/shipments/${reference}`;
      const read = await there.request(path, { apiKey });
      expect(read.status).toBe(200);
      expectSame(booked, read);
      const cancelled = await there.request(`${path}/cancel`, { apiKey, body: {} });
      expect(cancelled).toMatchObject({ status: 200, body: { data: { status: "cancelled" } } });
      const after = await here.grpcClient(apiKey).getShipment({ shipment: reference });
      expect(after.data).toMatchObject({ reference, etag: cancelled.body.data.etag });
    }
    expect(failures(old)).toEqual([]);
    expect(failures(next)).toEqual([]);
  });

  test("events of both versions reach both streams in one order, and webhooks once", async () => {
    const receiver = await startReceiver();
    const { old, next, apiKey } = await startBoth(release);
    const webhook = { url: receiver.url, types: ["*"] };
    const added = await old.request("/v1/webhooks", { apiKey, body: webhook });
    expect(added.status, added.text).toBe(201);
    const watched = [old, next].map((it) => take(4, eventsOf(it.grpcClient(apiKey, EventService).watchEvents({}))));
    for (const served of [old, next, old, next]) {
      expect(await book(served, apiKey)).toMatchObject({ status: 201 });
    }
    const [, seen] = await Promise.all(watched);
    expect(seen!.map(({ position }) => position)).toEqual([1n, 2n, 3n, 4n]);
    const { body } = await old.request("/v1/events?page_size=2", { apiKey });
    const rest = await next.request(`/v1/events?after=${body.cursor}`, { apiKey });
    expect(rest.body.data.map((it: any) => it.position)).toEqual([3, 4]);
    const [atOld, atNext] = (await Promise.all(watched)).map((it) => it.map(({ id }) => id));
    expect(atOld).toEqual(atNext);
    const sent = () => receiver.received.map(({ headers }) => headers["webhook-id"] as string);
    await eventually("the webhooks", () => sent().length >= 4);
    expect(sent().toSorted()).toEqual(atNext!.toSorted());
    expect(failures(old)).toEqual([]);
    expect(failures(next)).toEqual([]);
  });
});

function environmentOf({ url }: TestDatabase): Environment {
  return {
    ...FREE_PORTS,
    HOST: "127.0.0.1",
    DATABASE_URL: url,
    WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
  };
}

/** Creates a database with the release's commands: its schema, the sample tariff and a workspace. */
async function fill(release: Release): Promise<{ readonly environment: Environment; readonly apiKey: string }> {
  const database = await createUnmigratedDatabase();
  const environment = environmentOf(database);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await release.start([...args, "--json"], environment).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  await run("tariff", "publish", resolve("src/demo/sample-tariff.json"));
  const workspace = ["--name", "Acme", "--payment-provider", "manual"];
  const { api_key: apiKey } = await run("workspace", "create", ...workspace);
  return { environment, apiKey };
}

/** Returns this version's migrations that the release's schema lacks. */
async function migrationsMissing({ DATABASE_URL }: Environment): Promise<string[]> {
  const client = await connectTo(DATABASE_URL!);
  const { rows } = await client.query<{ name: string }>("select name from applied_migration");
  await client.end();
  const applied = new Set(rows.map(({ name }) => name));
  return Object.keys(MIGRATIONS).filter((name) => !applied.has(name));
}

/** Starts one replica of each version on a database with this version's schema. */
async function startBoth(release: Release) {
  const database = await createDatabase();
  const orm = createOrm(database.url, { entities: ENTITIES });
  await publishDocument(orm.em, SAMPLE_TARIFF);
  const { apiKey } = await makeWorkspace(orm.em, { name: "Acme", paymentProvider: "manual" });
  await orm.close();
  const environment = environmentOf(database);
  const next = await startServiceProcess(environment);
  await next.untilReady();
  return { next, old: await startRelease(release, environment), apiKey };
}

async function startRelease(release: Release, environment: Environment): Promise<ServiceProcess> {
  const served = await untilListening(release.start(["serve"], environment));
  await served.untilReady();
  return served;
}

/** Books, optionally with an idempotency key. */
function book(served: ServiceProcess, apiKey: string, key?: string) {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  return served.request("/v1/shipments", { apiKey, body: BOOKING, headers });
}

/** Returns a service's log lines of calls that failed with an internal error. */
function failures(served: ServiceProcess) {
  const failed = new Set<unknown>(["error", "fatal"]);
  return served.log().filter(({ level, status }) => failed.has(level) || status === 500);
}

/** Yields a stream's events without heartbeats. */
async function* eventsOf(stream: AsyncIterable<WatchEventsResponse>): AsyncGenerator<Event> {
  for await (const { data } of stream) if (data !== undefined) yield data;
}

/** Returns the references of all shipments in the workspace, in order. */
async function listReferences(served: ServiceProcess, apiKey: string): Promise<string[]> {
  const references: string[] = [];
  let token: string | undefined = "";
  while (token !== undefined) {
    const path = `/v1/shipments?page_size=100&page_token=${token}`;
    const { body } = await served.request(path, { apiKey });
    for (const { reference } of body.data) references.push(reference);
    token = body.next_page_token || undefined;
  }
  return references.toSorted();
}

/**
 * Starts concurrent clients that book repeatedly through a load balancer. The load balancer
 * alternates between the servers, and tries the next server when one is unavailable or unreachable.
 */
function startCallers(servers: ServiceProcess[], apiKey: string) {
  let ended = false;
  let count = 0;

  async function bookSomewhere(): Promise<string> {
    const number = (count += 1);
    const first = number % servers.length;
    const refusals: unknown[] = [];
    for (const served of [...servers.slice(first), ...servers.slice(0, first)]) {
      const answer = await book(served, apiKey, `booking-${number}`).catch((error: Error) => error);
      if (answer instanceof Error || answer.status === 503) {
        refusals.push(answer instanceof Error ? answer.cause : answer.body);
        continue;
      }
      expect(answer.status, answer.text).toBe(201);
      return answer.body.data.reference;
    }
    throw new Error(`every server refused the call: ${JSON.stringify(refusals)}`);
  }

  async function call(): Promise<string[]> {
    const references = [];
    while (!ended) references.push(await bookSomewhere());
    return references;
  }

  const calling = Promise.all(Array.from({ length: 4 }, call));
  // Errors are reported at the end.
  calling.catch(() => undefined);
  return {
    addServer: (served: ServiceProcess) => void servers.push(served),
    async end(): Promise<string[]> {
      ended = true;
      return (await calling).flat();
    },
  };
}
