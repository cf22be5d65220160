import { expect, test } from "vitest";
import { purgeUsedQuotes } from "../../../src/features/quotes/used-quote.entity.ts";
import { data } from "../../support/answers.ts";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { startService } from "../../support/service.ts";

const DAY_MS = 86_400_000;

let aheadMs = 0;
const service = await startService({ now: () => new Date(Date.now() + aheadMs) });
const sql = await connectTo(service.databaseUrl);

const quote = async (apiKey: string): Promise<string> => (await service.as(apiKey).createQuote(COVERED_ROUTE)).body.id;

const book = (apiKey: string, quote_id: string) => service.as(apiKey).createShipment({ ...BOOKING, quote_id });

/** Creates a test twin whose clock was frozen five days ago. */
async function withOldClock() {
  const { twin } = await service.addWorkspace();
  aheadMs = -5 * DAY_MS;
  await data(service.as(twin.apiKey).moveTestClock());
  aheadMs = 0;
  return twin;
}

test("a quote of a frozen test clock can be booked once, however long the clock is frozen", async () => {
  const { apiKey } = await withOldClock();
  const id = await quote(apiKey);
  expect((await book(apiKey, id)).status).toBe(201);
  expect(await purgeUsedQuotes(service.app.em)).toBe(0);
  expect((await book(apiKey, id)).code).toBe("QUOTE_USED");
});

test("a used quote is remembered as long as its key is valid, and then deleted", async () => {
  const { apiKey } = await service.addWorkspace();
  const id = await quote(apiKey);
  expect((await book(apiKey, id)).status).toBe(201);
  const age = (hours: number) =>
    sql.query("update used_quote set used_at = now() - make_interval(hours => $1)", [hours]);
  // The oldest key is deleted after 72 hours, when the next key is created, which happens every 12 hours.
  await age(84);
  expect(await purgeUsedQuotes(service.app.em)).toBe(0);
  expect((await book(apiKey, id)).code).toBe("QUOTE_USED");
  await age(97);
  expect(await purgeUsedQuotes(service.app.em)).toBeGreaterThan(0);
});

test("deleting test data also deletes quotes used with a frozen clock", async () => {
  const { apiKey, id } = await withOldClock();
  expect((await book(apiKey, await quote(apiKey))).status).toBe(201);
  await service.as(apiKey).deleteTestData();
  const { rows } = await sql.query("select 1 from used_quote where workspace_id = $1", [id]);
  expect([await data(service.as(apiKey).listShipments()), rows]).toEqual([[], []]);
});
