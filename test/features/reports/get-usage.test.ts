import { expect, test } from "vitest";
import {
  GetUsageResponseSchema,
  ReportService,
} from "../../../gen/shipments/v1/report_service_pb.js";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService } from "../../support/service.ts";

const service = await startService();
const sql = await connectTo(service.databaseUrl);

const HOUR_MS = 60 * 60 * 1_000;

/** The 24 hours up to the one that goes on, with the calls of those that had any, by their age. */
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

/** Sets a limit that is known from the first call on. */
async function limitQuotes(workspace: number, { rate, burst }: { rate: number; burst: number }) {
  await sql.query(
    "insert into workspace_limit (workspace_id, limit_class, rate, burst) values ($1, 'quote', $2, $3)",
    [workspace, rate, burst],
  );
}

async function insertUsage(workspace: number, hoursAgo: number, limitClass: string, calls: number) {
  await sql.query(
    `insert into usage_hour (workspace_id, hour, limit_class, calls)
     values ($1, date_trunc('hour', now(), 'UTC') - make_interval(hours => $2), $3, $4)`,
    [workspace, hoursAgo, limitClass, calls],
  );
}

test("a workspace reads its calls of 24 hours and its limits, the same by JSON and by gRPC", async () => {
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
  const { status, body } = await service.request("/v1/usage", { apiKey });
  expect({ status, body }).toEqual({
    status: 200,
    body: { data: { ...limits, hours: hoursWith(past) } },
  });
  const byGrpc = await service.grpcClient(apiKey, ReportService).getUsage({});
  expect(inDialect(GetUsageResponseSchema, byGrpc)).toEqual({
    // The call by JSON.
    data: { ...limits, hours: hoursWith({ ...past, 0: { read: 1 } }) },
  });
});

test("calls are counted once they have ended, by class; those beyond a limit are not", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await limitQuotes(id, { rate: 1, burst: 2 });
  const quote = () => service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await quote()).status);
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await service.request("/v1/shipments", { apiKey, body: {} });
  expect(refused.status).toBe(422);
  const { body } = await service.request("/v1/usage", { apiKey });
  expect(body.data.hours).toEqual(hoursWith({ 0: { quote: 2, write: 1 } }));
});

test("what a replica has counted is in the table once it has ended, of several replicas together", async () => {
  const database = await createDatabase();
  const replicas = [await startReplica(database.url), await startReplica(database.url)];
  const { id, apiKey } = await replicas[0]!.addWorkspace();
  const inside = await connectTo(database.url);
  for (const replica of replicas) await replica.request("/v1/shipments", { apiKey });
  await Promise.all(replicas.map((replica) => replica.close()));
  const { rows } = await inside.query(
    "select workspace_id::int, limit_class, sum(calls)::int as calls from usage_hour group by 1, 2",
  );
  expect(rows).toEqual([{ workspace_id: id, limit_class: "read", calls: 2 }]);
});

test("what has been counted is in the table after some seconds", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await service.request("/v1/shipments", { apiKey });
  await eventually("the counts", async () => {
    const { rows } = await sql.query("select 1 from usage_hour where workspace_id = $1", [id]);
    return rows.length === 1;
  });
});
