import { afterAll, beforeAll, expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test("a column that a migration adds does not break calls of a service that runs", async () => {
  const { apiKey } = await service.addWorkspace();
  const { reference, customer } = await book(service, apiKey);
  const statuses = async () =>
    Promise.all(
      [
        "/v1/shipments",
        `/v1/shipments/${reference}`,
        `/v1/shipments/${reference}/events`,
        "/v1/events",
        "/v1/customers",
        `/v1/customers/${customer.id}`,
        "/v1/webhooks",
        "/v1/workspace",
      ].map(async (path) => (await service.request(path, { apiKey })).status),
    );
  // More often than a statement is planned anew, so that every connection has its plans.
  for (let i = 0; i < 10; i++) expect(new Set(await statuses())).toEqual(new Set([200]));

  const tables = ["shipment", "customer", "event", "webhook", "workspace", "workspace_limit"];
  for (const table of [...tables, "api_key", "payment_connection"]) {
    await service.app.em.fork().execute(`alter table ${table} add column added text`);
  }
  for (let i = 0; i < 10; i++) expect(new Set(await statuses())).toEqual(new Set([200]));
});
