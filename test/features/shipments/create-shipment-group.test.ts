import { expect, test } from "vitest";
import { BOOKED_SHIPMENT, BOOKING } from "../../support/bookings.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { data, expectRefused } from "../../support/answers.ts";
import type { Answer } from "../../support/client.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { startService, type TestWorkspace } from "../../support/service.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { addWebhook } from "../../support/webhooks.ts";

const database = await createDatabase();
/**
 * Proxy in front of the database. Concurrent bookings share a transaction, and these tests check
 * that each can fail alone.
 */
const proxy = await startTcpProxy(database.url);
const service = await startService({ database: proxy });
// Client that bypasses the proxy.
const sql = await connectTo(database.url);

const book = ({ apiKey }: TestWorkspace, fields: object = {}, headers: Record<string, string> = {}) =>
  service.as(apiKey).createShipment({ ...BOOKING, ...fields }, headers);

const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)));

const wrote = ({ status, body }: Answer) => ({ status, body });

async function count(table: string, { id }: TestWorkspace): Promise<number> {
  const { rows } = await sql.query(`select count(*)::int as count from ${table} where workspace_id = $1`, [id]);
  return rows[0].count;
}

/** Expects a booking's response to match the stored row and its only event. */
async function expectKept({ apiKey }: TestWorkspace, answer: Answer): Promise<void> {
  const booked = await data(answer);
  const caller = service.as(apiKey);
  const { reference: shipment } = booked;
  expect(await data(caller.getShipment({ shipment }))).toEqual(booked);
  const events = await data(caller.listShipmentEvents({ shipment }));
  expect(events.map((event: any) => [event.type, event.data])).toEqual([["shipment.created", booked]]);
}

test("a booking grouped with those of other workspaces has the same result as alone and is stored as returned", async () => {
  const [one, other] = [await service.addWorkspace(), await service.addWorkspace()];
  const unpaid = await service.addWorkspace({ paymentProvider: undefined });
  const persons = (i: number) => ({ customer_email: `person${i}@example.org`, weight_kg: 1 + i });
  const inAnyCase = (i: number) => ({
    customer_email: i % 2 === 0 ? "new@example.org" : "NEW@example.org",
    customer_id_number: String(i),
  });
  const [plain, foreign, shared, uncovered, dearer, withoutProvider, named, namedThere, keyed] = await Promise.all([
    times(20, (i) => book(one, persons(i))),
    times(20, (i) => book(other, persons(i))),
    times(6, (i) => book(one, inAnyCase(i))),
    times(5, () => book(one, { dropoff_lat: 0, dropoff_lng: 0 })),
    times(5, () => book(other, { expected_total: 1 })),
    times(5, () => book(unpaid)),
    times(4, () => book(one, { external_reference: "order 1" })),
    times(1, () => book(other, { external_reference: "order 1" })),
    times(4, () => book(other, { customer_name: "Keyed" }, { "idempotency-key": "once" })),
  ]);

  const createdWithKey = keyed.filter(({ status }) => status === 201);
  const createdWithName = named.filter(({ status }) => status === 201);
  expect([createdWithKey.length > 0, createdWithName.length]).toEqual([true, 1]);
  for (const answer of [...plain, ...createdWithName]) await expectKept(one, answer);
  for (const answer of [...foreign, ...namedThere, createdWithKey[0]!]) await expectKept(other, answer);
  expect(plain.map(({ body }) => body.data.weight_kg)).toEqual(plain.map((_, i) => 1 + i));

  expect(new Set(shared.map(({ body }) => body.data.customer.id)).size).toBe(1);
  expect(shared.map(({ body }) => body.data.customer.id_number)).toEqual(shared.map((_, i) => String(i)));

  const outside = "The dropoff point is outside the coverage zones, 8643 km from the nearest one.";
  const changed = "expected_total is 1 USD, but the booking would cost 12.69 USD.";
  const missing = "The workspace has no payment provider connected. Connect one before booking.";
  const taker = createdWithName[0]!.body.data.reference;
  const taken = `external_reference already belongs to the shipment ${taker}.`;
  const inUse = "A call with this idempotency key is still running. Try again in a moment.";
  for (const answer of uncovered) {
    await expectRefused(answer, "ROUTE_NOT_COVERED", { coverage: outside });
  }
  expect(dearer.map(({ code, body }) => [code, body.message])).toEqual(Array(5).fill(["PRICE_CHANGED", changed]));
  for (const answer of withoutProvider) {
    await expectRefused(answer, "PAYMENT_PROVIDER_NOT_CONNECTED", { payment_provider: missing });
  }
  for (const answer of named.filter((it) => it !== createdWithName[0])) {
    await expectRefused(answer, "EXTERNAL_REFERENCE_TAKEN", { external_reference: taken }, { shipment: taker });
  }
  for (const answer of keyed) {
    if (answer.status === 201) expect(wrote(answer)).toEqual(wrote(createdWithKey[0]!));
    else await expectRefused(answer, "IDEMPOTENCY_KEY_IN_USE", { idempotency_key: inUse });
  }

  expect([await count("shipment", one), await count("customer", one)]).toEqual([27, 22]);
  expect([await count("shipment", other), await count("customer", other)]).toEqual([22, 22]);
  expect([await count("shipment", unpaid), await count("customer", unpaid)]).toEqual([0, 0]);
});

test("concurrent bookings share transactions", async () => {
  const workspace = await service.addWorkspace();
  await book(workspace);
  const answers = await times(40, () => book(workspace));
  expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(201));
  const { rows } = await sql.query(
    "select count(distinct xmin::text)::int < 41 as together from event where workspace_id = $1",
    [workspace.id],
  );
  expect(rows).toEqual([{ together: true }]);
});

test("a booking that the database rejects fails alone, and the rest of its group is booked once", async () => {
  const [one, other] = [await service.addWorkspace(), await service.addWorkspace()];
  await sql.query("alter table shipment add constraint somewhere check (pickup_address <> 'Nowhere')");
  const answers = await times(40, (i) =>
    book(i % 2 === 0 ? one : other, {
      customer_name: `Customer ${i}`,
      ...(i === 20 ? { pickup_address: "Nowhere" } : {}),
    }),
  );
  await sql.query("alter table shipment drop constraint somewhere");
  expect(answers.map(wrote)).toEqual(
    answers.map((_, i) =>
      i === 20
        ? { status: 500, body: errorBody("The service failed. Report this with the request id.") }
        : {
            status: 201,
            body: {
              data: {
                ...BOOKED_SHIPMENT,
                customer: { ...BOOKED_SHIPMENT["customer"], name: `Customer ${i}` },
              },
            },
          },
    ),
  );
  for (const [i, answer] of answers.entries()) {
    if (i !== 20) await expectKept(i % 2 === 0 ? one : other, answer);
  }
  expect([await count("shipment", one), await count("customer", one)]).toEqual([19, 19]);
  expect([await count("shipment", other), await count("customer", other)]).toEqual([20, 20]);
});

test("a booking is made once even if webhooks are deleted one after another during its attempts", async () => {
  const workspace = await service.addWorkspace();
  await addWebhook(service, workspace.apiKey, { url: "https://example.com/hook" });
  // Sequence values survive rollbacks, so the webhook is missing in the first six attempts only.
  await sql.query(`
    create sequence deletion;
    create function collide() returns trigger language plpgsql as
      $$ begin if nextval('deletion') <= 6 then raise foreign_key_violation; end if; return new; end $$;
    create trigger collide before insert on webhook_delivery for each row execute function collide()`);
  const answer = await book(workspace);
  await sql.query("drop trigger collide on webhook_delivery");
  await expectKept(workspace, answer);
  expect(await count("shipment", workspace)).toBe(1);
});

test("a booking that waits for its customer's lock does not delay the rest of its group", async () => {
  const [one, other] = [await service.addWorkspace(), await service.addWorkspace()];
  await book(one);
  await sql.query("begin");
  await sql.query("update customer set id_number = 'held' where workspace_id = $1", [one.id]);
  let answered = false;
  const waits = book(one, { customer_id_number: "wanted" }).finally(() => (answered = true));
  const neighbours = await times(40, (i) => book(other, { customer_name: `Customer ${i}` }));
  expect(neighbours.map(({ status }) => status)).toEqual(neighbours.map(() => 201));
  expect(answered).toBe(false);
  await sql.query("commit");
  await expectKept(one, await waits);
  expect((await waits).body.data.customer.id_number).toBe("wanted");
});

test("bookings without an acknowledged commit are not repeated", async () => {
  // Uses two workspaces, because a workspace's bookings wait for each other after writing their events.
  const [one, other] = [await service.addWorkspace(), await service.addWorkspace()];
  await sql.query(`
    create function linger() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(1); return null; end $$;
    create constraint trigger linger after insert on event
      deferrable initially deferred for each row when (new.subject <> '')
      execute function linger()`);
  await sql.query("select pg_advisory_lock(1)");
  const inCommit = async () =>
    (await sql.query("select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'"))
      .rowCount!;
  // Starts each booking in its own transaction, because a group releases its locks after a tenth of a second.
  const alone = [book(one, { customer_name: "Customer 0" })];
  await eventually("the first commit", async () => (await inCommit()) === 1);
  alone.push(book(other, { customer_name: "Customer 1" }));
  await eventually("another commit", async () => (await inCommit()) === 2);
  const crowd = times(2, (i) => book(other, { customer_name: `Customer ${i + 2}` }));
  proxy.cut();
  const answers = [...(await Promise.all(alone)), ...(await crowd)];
  await sql.query("select pg_advisory_unlock(1)");
  await eventually("the commits to end", async () => (await inCommit()) === 0);
  await sql.query("drop trigger linger on event");

  const text = "The service cannot reach its database. Try again in a moment.";
  const unacknowledged = answers.filter(({ status }) => status !== 201).map(wrote);
  expect(unacknowledged.length).toBeGreaterThan(1);
  expect(unacknowledged).toEqual(unacknowledged.map(() => ({ status: 503, body: errorBody(text) })));
  const { rows } = await sql.query(
    `select name, count(*)::int from shipment join customer on customer.id = customer_id
     where shipment.workspace_id in ($1, $2) group by name order by name`,
    [one.id, other.id],
  );
  expect(rows.slice(0, 2)).toEqual([
    { name: "Customer 0", count: 1 },
    { name: "Customer 1", count: 1 },
  ]);
  expect(rows.map(({ count }) => count)).toEqual(rows.map(() => 1));
});
