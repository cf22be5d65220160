import pg from "pg";
import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/service.ts";
import { addWebhook } from "../support/webhooks.ts";

test("calls of one workspace that wait in the database leave connections for others, and for bookings", async () => {
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
  await eventually("those beyond the share to wait for it", async () => {
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
