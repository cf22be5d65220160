import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { data } from "../../support/answers.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { HURRIED, sharedService, startReplica } from "../../support/service.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);

const HOUR_MS = 60 * 60 * 1_000;

/** Returns the last 24 hours, including the current one, with calls by age in hours. */
function hoursWith(calls: Readonly<Record<number, object>>) {
  const currentMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  return Array.from({ length: 24 }, (_, i) => ({
    starts_at: new Date(currentMs - (23 - i) * HOUR_MS).toISOString(),
    quote: 0,
    read: 0,
    write: 0,
    ...calls[23 - i],
  }));
}

/** Inserts a limit for quotes. It takes effect with the workspace's first call. */
async function limitQuotes(workspace: number, { rate, burst }: { rate: number; burst: number }) {
  await sql.query("insert into workspace_limit (workspace_id, limit_class, rate, burst) values ($1, 'quote', $2, $3)", [
    workspace,
    rate,
    burst,
  ]);
}

async function insertUsage(workspace: number, hoursAgo: number, limitClass: string, calls: number) {
  await sql.query(
    `insert into usage_hour (workspace_id, hour, limit_class, calls)
     values ($1, date_trunc('hour', now(), 'UTC') - make_interval(hours => $2), $3, $4)`,
    [workspace, hoursAgo, limitClass, calls],
  );
}

test("a workspace reads its calls of the last 24 hours and its limits", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  await limitQuotes(id, { rate: 7, burst: 9 });
  await insertUsage(id, 24, "read", 1);
  await insertUsage(id, 23, "read", 2);
  await insertUsage(id, 1, "quote", 3_000_000_000);
  await insertUsage(id, 1, "write", 4);
  await insertUsage(other.id, 1, "read", 5);

  const past = { 23: { read: 2 }, 1: { quote: 3_000_000_000, write: 4 } };
  const limits = { ...DEFAULT_LIMITS, quote: { rate: 7, burst: 9 } };
  const { getUsage } = service.as(apiKey);
  expect(await data(getUsage())).toEqual({ ...limits, hours: hoursWith(past) });
  // Includes the previous call.
  const hours = hoursWith({ ...past, 0: { read: 1 } });
  expect(await data(getUsage())).toEqual({ ...limits, hours });
});

test("counts completed calls by class, without rate-limited ones", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await limitQuotes(id, { rate: 1, burst: 2 });
  const as = service.as(apiKey);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await as.quoteShipment(COVERED_ROUTE)).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await as.createShipment()).status).toBe(422);
  expect((await data(as.getUsage())).hours).toEqual(hoursWith({ 0: { quote: 2, write: 1 } }));
});

test("previews by signed-in people count towards the quote limit, in a separate class", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const replica = await startReplica(service.databaseUrl);
  const person = await signIn(replica, apiKey, { email: "previews@example.org", role: "viewer" });
  const headers = { "x-workspace": String(id) };
  const response = await person.request("/v1/shipments/quote", { body: COVERED_ROUTE, headers });
  expect(response.status).toBe(200);
  const [current] = (await data(replica.as(apiKey).getUsage())).hours.slice(-1);
  expect(current.quote).toBe(1);
  await replica.close();
  const { rows } = await sql.query(
    "select limit_class, calls from usage_hour where workspace_id = $1 and limit_class <> 'read' order by 1",
    [id],
  );
  expect(rows).toContainEqual({ limit_class: "preview", calls: "1" });
  expect(rows.map((row) => row.limit_class)).not.toContain("quote");
});

test("replicas add their counts to the table when they stop", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const replicas = await Promise.all([1, 2].map(() => startReplica(service.databaseUrl)));
  for (const replica of replicas) await replica.as(apiKey).listShipments();
  await Promise.all(replicas.map((replica) => replica.close()));
  const { rows } = await sql.query(
    "select limit_class, sum(calls)::int as calls from usage_hour where workspace_id = $1 group by 1",
    [id],
  );
  expect(rows).toEqual([{ limit_class: "read", calls: 2 }]);
});

test("counts are written to the table after some seconds", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const hurried = await startReplica(service.databaseUrl, { outside: HURRIED });
  await hurried.as(apiKey).listShipments();
  await eventually("the counts", async () => {
    const { rows } = await sql.query("select 1 from usage_hour where workspace_id = $1", [id]);
    return rows.length === 1;
  });
});
