import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { expectRefused } from "../../support/answers.ts";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { createDatabase } from "../../support/database.ts";
import { makeWorkspace, setPaymentProvider } from "../../support/platform.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { startUnprepared } from "../../support/service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

// A service without a tariff.
const service = await startUnprepared((await createDatabase()).url);
const { em } = service.app;
await service.app.prepare();
const { id, apiKey } = await makeWorkspace(em, { name: "Test", paymentProvider: "manual" });
const as = service.as(apiKey);

/** Expects the response to a workspace that reads itself. */
async function expectWorkspace(payment_provider: string | null, booking_blockers: string[]) {
  const limits = { request_bytes: 65_536, page_size: 100, batch_routes: 100, metadata_keys: 20 };
  const own = {
    id,
    name: "Test",
    test: false,
    time_zone: "UTC",
    address_search: false,
    tracking_enabled: true,
    tracking_contact: null,
    tracking_logo: null,
    tracking_shows_courier: true,
    notifies_recipients: false,
    late_after_minutes: 240,
    couriers_reorder_stops: false,
    couriers_share_location: true,
  };
  expect((await as.getWorkspace()).body).toEqual({
    data: { ...own, payment_provider, booking_blockers, limits: { ...limits, ...DEFAULT_LIMITS } },
  });
}

test("without a tariff the service is live but not ready, and calls that need none succeed", async () => {
  expect((await service.request("/healthz")).status).toBe(200);
  const { status, body } = await service.request("/readyz");
  expect([status, body]).toEqual([503, { status: "waiting for the first tariff" }]);
  expect((await as.listShipments()).status).toBe(200);
});

test.each([
  ["quoteShipment", COVERED_ROUTE],
  ["batchQuoteShipments", { routes: [COVERED_ROUTE] }],
  ["createQuote", COVERED_ROUTE],
  ["batchCreateQuotes", { routes: [COVERED_ROUTE] }],
  ["createShipment", BOOKING],
  ["findZones", { points: [{ lat: 40, lng: -70 }] }],
] as const)("without a tariff %s is unavailable", async (method, fields) => {
  const call = as[method as "quoteShipment"](fields as object);
  const text = "No tariff has been published yet. An operator must publish one.";
  const { headers } = await expectRefused(call, "UNAVAILABLE", text);
  expect(headers.get("retry-after")).toBe("1");
});

test("a workspace reads the reasons that block its bookings: a missing provider and a missing tariff", async () => {
  await expectWorkspace("manual", ["tariff"]);
  await setPaymentProvider(em, id, undefined);
  await expectWorkspace(null, ["payment_provider", "tariff"]);
  await publishDocument(em, SAMPLE_TARIFF);
  await expectWorkspace(null, ["payment_provider"]);
  await setPaymentProvider(em, id, "manual");
  await expectWorkspace("manual", []);
  const set = (columns: string) => em.execute(`update tariff_version set ${columns}`);
  await set("effective_at = now() + interval '1 hour'");
  await expectWorkspace("manual", ["tariff"]);
  await set("effective_at = now(), called_off_at = now()");
  await expectWorkspace("manual", ["tariff"]);
});
