import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { HURRIED, startReplica, type TestService } from "../../support/service.ts";

const quote = async (service: TestService, apiKey: string): Promise<string> =>
  (await service.as(apiKey).createQuote(COVERED_ROUTE)).body.id;

const book = (service: TestService, apiKey: string, quote_id: string) =>
  service.as(apiKey).createShipment({ ...BOOKING, quote_id });

/** Returns the number of the key that sealed a quote. */
function keyOf(id: string): number {
  return Buffer.from(id.slice("quo_".length), "base64url").readUInt32BE();
}

test("keys rotate one at a time, are known to all replicas before use, and stay valid for days", async () => {
  const { url } = await createDatabase();
  const replicas = await Promise.all([
    startReplica(url, { outside: HURRIED }),
    startReplica(url, { outside: HURRIED }),
  ]);
  const [one, other] = replicas as [TestService, TestService];
  const { apiKey } = await one.addWorkspace();
  const sql = await connectTo(url);
  const age = (id: number, by: string) =>
    sql.query("update quote_key set created_at = created_at - $2::interval where id = $1", [id, by]);
  const stored = async () => (await sql.query("select id from quote_key order by id")).rows.map(({ id }) => id);
  const sealing = () => Promise.all(replicas.map(async (it) => keyOf(await quote(it, apiKey))));
  expect(await stored()).toEqual([1]);
  const ofFirst = [await quote(one, apiKey), await quote(one, apiKey)] as const;

  await age(1, "12 hours");
  await eventually("the next key", async () => (await stored()).length === 2);
  expect(await sealing()).toEqual([1, 1]);
  await age(2, "60 seconds");
  await eventually("both replicas to use the new key", async () => (await sealing()).every((id) => id === 2));
  expect((await book(other, apiKey, await quote(one, apiKey))).status).toBe(201);
  expect((await book(one, apiKey, await quote(other, apiKey))).status).toBe(201);
  expect((await book(other, apiKey, ofFirst[0])).status).toBe(201);

  await age(1, "60 hours");
  await age(2, "12 hours");
  await eventually("the first key to be deleted", async () => !(await stored()).includes(1));
  expect(await stored()).toEqual([2, 3]);
  await eventually("quotes of the first key to be unknown", async () => {
    return (await book(other, apiKey, ofFirst[1])).code === "QUOTE_UNKNOWN";
  });
});

test("keys are encrypted if secrets are, and keep earlier quotes valid", async () => {
  const { url } = await createDatabase();
  const plain = await startReplica(url, { outside: HURRIED });
  const { apiKey } = await plain.addWorkspace();
  const before = await quote(plain, apiKey);
  await plain.close();
  const sql = await connectTo(url);
  const secretsOf = async () =>
    (await sql.query("select secret from quote_key order by id")).rows.map(({ secret }) => secret);
  expect(await secretsOf()).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)]);

  const secretsKeys = [randomBytes(32)];
  const sealing = await startReplica(url, { secretsKeys, outside: HURRIED });
  await eventually("the sealing", async () => (await secretsOf())[0]!.startsWith("sealed:"));
  await sealing.close();
  const sealed = await startReplica(url, { secretsKeys });
  expect((await book(sealed, apiKey, before)).status).toBe(201);
  expect(keyOf(await quote(sealed, apiKey))).toBe(1);

  // A replica that cannot decrypt the key creates another one. All replicas then use it.
  const without = await startReplica(url);
  const ofItsOwn = await quote(without, apiKey);
  expect(keyOf(ofItsOwn)).not.toBe(1);
  expect((await book(without, apiKey, await quote(sealed, apiKey))).code).toBe("QUOTE_UNKNOWN");
  await eventually("the other replica to load the key", async () => {
    return (await book(sealed, apiKey, ofItsOwn)).status === 201;
  });
});
