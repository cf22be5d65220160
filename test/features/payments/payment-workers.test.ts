import { expect, test } from "vitest";
import { connectTo } from "../../support/database.ts";
import { book } from "../../support/bookings.ts";
import {
  requestCheckout,
  bookCheckout,
  eventTypes,
  startStripeService,
  untilShipment,
} from "../../support/stripe-service.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const MINUTE_MS = 60_000;
/** Maximum number of concurrent routine polls, per workspace and per process. */
const [PER_WORKSPACE, PER_PROCESS] = [8, 16];

test("a payment with a new event is polled while all routine polls hang", async () => {
  const setup = await startStripeService();
  const { service, stripe, clock } = setup;
  const workspaces = [];
  const routine = [];
  for (let count = 0; count < PER_PROCESS / PER_WORKSPACE; count++) {
    const workspace = await setup.connect();
    workspaces.push(workspace);
    for (let i = 0; i < PER_WORKSPACE; i++) routine.push(await bookCheckout(setup, workspace));
  }
  const notified = await bookCheckout(setup, workspaces[0]!);
  stripe.pay(notified.session);
  const polls = routine.map(({ session }) => stripe.fault(`GET /v1/checkout/sessions/${session}`, "held"));
  clock.ms += 4 * MINUTE_MS;
  await Promise.all(polls.map(({ met }) => met));
  expect(new Set(await stripe.deliverEvents())).toEqual(new Set([200]));
  await untilShipment(service, workspaces[0]!.apiKey, notified.reference, {
    payment_status: "paid",
  });
  for (const poll of polls) poll.release();
});

test("the provider's rejection reaches the caller while other replicas poll", async () => {
  const setup = await startStripeService();
  const { service, stripe } = setup;
  const { apiKey, account } = await setup.connect();
  const replicas = [1, 2].map(() => createPaymentWorker(setup));
  const shipments = await Promise.all(Array.from({ length: 40 }, () => book(service, apiKey)));
  stripe.restrictAccount(account);
  stripe.dropEvents();
  let isOver = false;
  const polling = replicas.map(async (work) => {
    while (!isOver) await work();
  });
  const responses = await Promise.all(shipments.map(({ reference }) => requestCheckout(service, apiKey, reference)));
  isOver = true;
  await Promise.all(polling);
  const refused = expect.stringContaining("Your account cannot currently make charges.");
  expect(responses.map(({ status, body }) => [status, body.message])).toEqual(shipments.map(() => [422, refused]));
});

test("polls of a checkout become less frequent as it ages, and stop when it ends", async () => {
  const setup = await startStripeService();
  const { service, stripe, clock } = setup;
  const work = createPaymentWorker(setup);
  const workspace = await setup.connect();
  const sql = await connectTo(service.databaseUrl);
  const openedMs = clock.ms;
  const { reference } = await bookCheckout(setup, workspace);
  const pollsAfterMinutes: number[] = [];
  for (;;) {
    const { rows } = await sql.query("select due_at from provider_payment where due_at is not null");
    if (rows.length === 0) break;
    clock.ms = rows[0].due_at.getTime();
    pollsAfterMinutes.push((clock.ms - openedMs) / MINUTE_MS);
    stripe.expireDue();
    await work();
  }
  expect(pollsAfterMinutes.slice(0, 5)).toEqual([3, 6, 9, 12, 15]);
  const waits = pollsAfterMinutes.map((minutes, i) => minutes - (pollsAfterMinutes[i - 1] ?? 0));
  expect(Math.max(...waits)).toBe(60);
  expect(pollsAfterMinutes.at(-1)).toBe(1_430);
  expect(pollsAfterMinutes.length).toBeLessThan(1_430 / 3 / 10);
  expect(await eventTypes(service, workspace.apiKey, reference)).toEqual([
    "created",
    "checkout_opened",
    "payment_failed",
  ]);
});
