import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { createOrm } from "../../../src/db/orm.ts";
import { createEventAnnouncer, EVENTS_CHANNEL } from "../../../src/features/events/event-announcer.ts";
import { ENTITIES } from "../../../src/server/entities.ts";
import { data } from "../../support/answers.ts";
import { book, takeStep, type Step } from "../../support/bookings.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startReplica } from "../../support/service.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { take } from "../../support/take.ts";
import { withoutHeartbeats } from "../../support/without-heartbeats.ts";
import { addWebhook } from "../../support/webhooks.ts";

let database: TestDatabase;
/** Client that listens to announcements as a replica does. */
let listener: pg.Client;
/** Payloads received so far. */
let announced: string[];

beforeEach(async () => {
  database = await createDatabase();
  announced = [];
  listener = new pg.Client(database.url);
  listener.on("notification", ({ payload }) => void announced.push(payload ?? ""));
  await listener.connect();
  await listener.query(`listen ${EVENTS_CHANNEL}`);
});
afterEach(async () => {
  await listener.end();
});

test("announces every kind of change once per transaction to other replicas and their streams", async () => {
  const webhookAnswer = Promise.withResolvers<number>();
  const receiver = await startReceiver(async (response) => {
    response.writeHead(await webhookAnswer.promise).end();
  });
  const writer = await startReplica(database.url);
  const reader = await startReplica(database.url);
  const { apiKey, id } = await writer.addWorkspace();
  const webhook = await addWebhook(writer, apiKey, {
    url: receiver.url,
    types: ["webhook.disabled"],
  });
  const streamed = take(13, withoutHeartbeats(reader.grpcClient(apiKey, EventService).watchEvents({})));

  const caller = writer.as(apiKey);
  const announcementsOf = async (change: () => Promise<unknown>): Promise<string[]> => {
    const before = announced.length;
    await change();
    await eventually("an announcement", () => announced.length > before);
    return announced.slice(before);
  };

  let shipment = await book(writer, apiKey);
  await eventually("the first announcement", () => announced.length === 1);
  const step = (kind: Step) => () => data(takeStep(writer, apiKey, shipment["reference"], kind));
  const changes: Record<string, () => Promise<unknown>> = {
    update: () => caller.updateShipment({ shipment: shipment["reference"], pickup_address: "Elsewhere" }),
    pay: step("pay"),
    advance: step("advance"),
    "advance again": step("advance"),
    "book another": async () => (shipment = await book(writer, apiKey)),
    "pay another": step("pay"),
    cancel: step("cancel"),
    refund: step("refund"),
    "test a webhook": () => data(caller.testWebhook({ webhook: webhook.data.id })),
    "disable a webhook": async () => webhookAnswer.resolve(410),
  };
  for (const [kind, change] of Object.entries(changes)) {
    expect(await announcementsOf(change), kind).toEqual([String(id)]);
  }
  expect((await streamed).map((it) => it.data?.type)).toEqual([
    "shipment.created",
    "shipment.updated",
    "shipment.paid",
    "shipment.awaiting_pickup",
    "shipment.in_transit",
    "shipment.delivered",
    "shipment.created",
    "shipment.paid",
    "shipment.awaiting_pickup",
    "shipment.cancelled",
    "shipment.refunded",
    "webhook.test",
    "webhook.disabled",
  ]);
  await Promise.all([writer.close(), reader.close()]);
});

test("repeats a failed announcement, including later changes, once the database is back", async () => {
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void warnings.push(line) });
  const proxy = await startTcpProxy(database.url);
  const announcing = createOrm(proxy.url, { entities: ENTITIES });
  const announcer = createEventAnnouncer(announcing.em, log);

  await proxy.goDown();
  announcer.announce(7);
  await eventually("a failed announcement", () => warnings.length > 0);
  announcer.announce(12);
  await sleep(50);
  expect(announced).toEqual([]);
  await proxy.comeBack();
  await eventually("the announcement", () => announced.length > 0);
  expect(announced).toEqual(["7,12"]);

  await announcer.close();
  await announcing.close();
});
