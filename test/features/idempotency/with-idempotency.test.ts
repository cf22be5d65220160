import { expect, test } from "vitest";
import type { RefusalReason } from "../../../src/domain/refusal.ts";
import { purgeStoredResponses } from "../../../src/features/idempotency/stored-responses.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { BOOKING } from "../../support/bookings.ts";
import { createDatabase } from "../../support/database.ts";
import type { Endpoints } from "../../support/endpoints.ts";
import { setPaymentProvider } from "../../support/platform.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { sharedService, startReplica } from "../../support/service.ts";

const service = await sharedService();

const book = (apiKey: string, key: string, changes: object = {}) =>
  service.as(apiKey).createShipment({ ...BOOKING, ...changes }, { "idempotency-key": key });

async function countShipments(workspaceId: number): Promise<number> {
  const [row] = await service.app.em
    .fork()
    .execute<{ count: number }[]>("select count(*)::int as count from shipment where workspace_id = ?", [workspaceId]);
  return row!.count;
}

const expectKeyRefused = (call: Parameters<typeof expectRefused>[0], reason: RefusalReason, text: string) =>
  expectRefused(call, reason, { idempotency_key: text });

test("a booking repeated with its idempotency key gets the first response and is made once", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const first = await book(apiKey, "order-7");
  const second = await book(apiKey, "order-7");
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.text).toBe(first.text);
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(await countShipments(id)).toBe(1);
});

test("an idempotency key used over JSON is recognized over gRPC", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { reference: shipment } = await data(book(apiKey, "json-and-grpc"));
  const headers = { "idempotency-key": "cancel-it" };
  const first = await data(service.as(apiKey).cancelShipment({ shipment }, headers));
  const second = await service.as(apiKey, "grpc").cancelShipment({ shipment }, headers);
  expect(await data(second)).toEqual(first);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(await countShipments(id)).toBe(1);
});

test("the order of a request's fields does not matter to its idempotency key", async () => {
  const { apiKey } = await service.addWorkspace();
  const first = await book(apiKey, "maps", { metadata: { a: "1", b: "2" } });
  const second = await book(apiKey, "maps", { metadata: { b: "2", a: "1" } });
  expect(second.text).toBe(first.text);
});

test("rejects an idempotency key that was used for another request, by the same or another method", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { reference: shipment } = await data(book(apiKey, "reused"));
  for (const call of [
    () => book(apiKey, "reused", { weight_kg: 3 }),
    () => service.as(apiKey, "grpc").cancelShipment({ shipment }, { "idempotency-key": "reused" }),
  ]) {
    await expectKeyRefused(
      call(),
      "IDEMPOTENCY_KEY_REUSED",
      "This idempotency key was already used for another request. Use a new key for each request.",
    );
  }
  expect(await countShipments(id)).toBe(1);
});

test("one of several concurrent bookings with an idempotency key is made, and the others get its response or must wait", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const answers = await Promise.all(Array.from({ length: 20 }, () => book(apiKey, "at-once")));
  const made = answers.filter(({ status }) => status === 201);
  const waiting = answers.filter(({ status }) => status !== 201);
  expect(new Set(made.map(({ text }) => text)).size).toBe(1);
  for (const refused of waiting) {
    expect(refused.headers.get("retry-after")).toBe("1");
    await expectKeyRefused(
      refused,
      "IDEMPOTENCY_KEY_IN_USE",
      "A call with this idempotency key is still running. Try again in a moment.",
    );
  }
  expect(await countShipments(id)).toBe(1);
});

test("a rejected call stores no response and can be retried with its idempotency key", async () => {
  const { id, apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  expect((await book(apiKey, "again")).status).toBe(422);
  await setPaymentProvider(service.app.em, id, "manual");
  const { status, headers } = await book(apiKey, "again");
  expect([status, headers.get("idempotency-replayed")]).toEqual([201, null]);
});

test("workspaces do not share idempotency keys", async () => {
  const [one, other] = [await service.addWorkspace(), await service.addWorkspace()];
  const { body } = await book(one.apiKey, "shared");
  const { headers, body: otherBody } = await book(other.apiKey, "shared");
  expect(headers.get("idempotency-replayed")).toBeNull();
  expect(otherBody.data.reference).not.toBe(body.data.reference);
});

test("reads and quotes ignore the idempotency key", async () => {
  const { apiKey } = await service.addWorkspace();
  const headers = { "idempotency-key": "read" };
  for (let i = 0; i < 2; i++) {
    const read = await service.as(apiKey).listShipments({}, headers);
    const quote = await service.as(apiKey).quoteShipment(BOOKING, headers);
    for (const answer of [read, quote]) {
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, null]);
    }
  }
});

test.each(["two words", "x".repeat(256), "\u00fc"])("rejects the idempotency key %j", async (key) => {
  const { id, apiKey } = await service.addWorkspace();
  const text = "Idempotency-Key must be sent once, with 1 to 255 visible characters.";
  await expectKeyRefused(book(apiKey, key), "FIELD_INVALID", text);
  expect(await countShipments(id)).toBe(0);
});

test("a stored response expires after a day, both on lookup and in the purge", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const age = () =>
    service.app.em.fork().execute(
      // Adds a second, because stored times are rounded to milliseconds, possibly up.
      "update kept_answer set created_at = now() - interval '24 hours 1 second' where workspace_id = ?",
      [id],
    );
  const first = await book(apiKey, "old");
  await age();
  const second = await book(apiKey, "old");
  expect(second.body.data.reference).not.toBe(first.body.data.reference);

  await age();
  await purgeStoredResponses(service.app.em);
  expect(await service.app.em.fork().execute("select from kept_answer where workspace_id = ?", [id])).toEqual([]);
});

test("200 bookings interrupted by a kill and repeated with their idempotency keys are each made once", async () => {
  const database = await createDatabase();
  const observer = await startReplica(database.url);
  const { apiKey, id } = await observer.addWorkspace();
  const bookAll = (at: Endpoints) =>
    Array.from({ length: 200 }, async (_, i): Promise<string> => {
      const fields = { ...BOOKING, external_reference: `booking ${i}` };
      const headers = { "idempotency-key": `booking-${i}` };
      return (await at.as(apiKey).createShipment(fields, headers)).body.data?.reference;
    });
  const count = async () =>
    (await observer.app.em.fork().execute<unknown[]>("select from shipment where workspace_id = ?", [id])).length;

  const doomed = await startServiceProcess({ DATABASE_URL: database.url });
  await doomed.untilReady();
  const interrupted = bookAll(doomed);
  await Promise.any(interrupted);
  doomed.process.kill("SIGKILL");
  await doomed.ended;
  const outcomes = await Promise.allSettled(interrupted);
  expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);

  const references = await Promise.all(bookAll(observer));
  expect(new Set(references).size).toBe(200);
  expect(references.every((it) => typeof it === "string")).toBe(true);
  for (const [i, outcome] of outcomes.entries()) {
    // A booking that got its response before the kill must get the same response again.
    const before = outcome.status === "fulfilled" ? outcome.value : undefined;
    if (before !== undefined) expect(before).toBe(references[i]);
  }
  expect(await count()).toBe(200);
});
