import pg from "pg";
import { expect, test } from "vitest";
import { createConnectionShares, guardConnections } from "../../src/db/connection-shares.ts";
import { book } from "../support/bookings.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/service.ts";
import { addWebhook } from "../support/webhooks.ts";

test("calls of one workspace that wait in the database leave connections for other workspaces and for bookings", async () => {
  const service = await startService();
  const busy = await service.addWorkspace();
  const other = await service.addWorkspace();
  const { data } = await addWebhook(service, busy.apiKey, { url: "http://localhost:9/" });
  const holder = new pg.Client(service.databaseUrl);
  await holder.connect();
  await holder.query("begin");
  await holder.query("select from webhook where workspace_id = $1 for no key update", [busy.id]);

  const waiting = Array.from({ length: 25 }, () =>
    service.request(`/v1/webhooks/${data.id}`, {
      apiKey: busy.apiKey,
      method: "PATCH",
      body: { enabled: true },
    }),
  );
  await eventually("the calls beyond the share to wait", async () => {
    const { text } = await service.request("/metrics");
    return text.includes('shipments_database_connections{state="waiting"} 15\n');
  });
  const listed = await service.request("/v1/webhooks", { apiKey: other.apiKey });
  expect([listed.status, listed.body]).toEqual([200, { data: [], next_page_token: "" }]);
  await book(service, busy.apiKey);

  await holder.query("rollback");
  await holder.end();
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
  const again = await service.request(`/v1/webhooks/${data.id}`, { apiKey: busy.apiKey });
  expect(again.status).toBe(200);
});

test("records a wait for all but the first of five callers that acquire one idle connection in one tick", async () => {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  // Ignores the error when the database is dropped before the connection ends.
  pool.on("connect", (client) => client.on("error", () => {}));
  await pool.query("select");
  const hasWaited: boolean[] = [];
  guardConnections(pool, createConnectionShares(1), (ms) => hasWaited.push(ms > 0));
  const use = async () => {
    const client = await pool.connect();
    await client.query("select");
    client.release();
  };
  await Promise.all(Array.from({ length: 5 }, use));
  expect(hasWaited).toEqual([false, true, true, true, true]);
  await pool.end();
});
