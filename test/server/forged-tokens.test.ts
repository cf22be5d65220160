import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { writePageToken } from "../../src/pipeline/page.ts";
import { anyText } from "../support/arbitrary-input.ts";
import { book } from "../support/bookings.ts";
import { sharedService } from "../support/service.ts";
import { addWebhook } from "../support/webhooks.ts";

/** A paginated list whose tokens are forged. */
interface List {
  readonly path: string;
  /** Request field for the token. */
  readonly field: string;
  /** Filters for which the list's tokens are valid. */
  readonly filters: object;
  readonly key: string;
  /** A valid position, on which forged positions are based. */
  readonly position: readonly (string | number)[];
}

const service = await sharedService();
const { id: workspace, apiKey: key } = await service.addWorkspace();
// Creates a separate operator per list, because 100 forged tokens use up most of a caller's burst.
const operatorKey = async () => (await service.addOperator()).key;
const { reference } = await book(service, key);
const { data: webhook } = await addWebhook(service, key, { url: "https://example.com/" });
const field = "page_token";
const lists: Readonly<Record<string, List>> = {
  events: {
    path: "/v1/events",
    field: "after",
    filters: { feed: workspace },
    key,
    position: [1],
  },
  shipments: {
    path: "/v1/shipments",
    field,
    filters: { workspace },
    key,
    position: [Date.now(), reference],
  },
  "a shipment's events": {
    path: `/v1/shipments/${reference}/events`,
    field,
    filters: { eventsOf: reference },
    key,
    position: [1],
  },
  customers: { path: "/v1/customers", field, filters: { workspace }, key, position: [1] },
  "a webhook's deliveries": {
    path: `/v1/webhooks/${webhook.id}/deliveries`,
    field,
    filters: { webhook: webhook.id },
    key,
    position: [1],
  },
  workspaces: {
    path: "/admin/v1/workspaces",
    field,
    filters: { list: "workspaces" },
    key: await operatorKey(),
    position: ["Test", 1],
  },
  operators: {
    path: "/admin/v1/operators",
    field,
    filters: { list: "operators", includeRevoked: false },
    key: await operatorKey(),
    position: [1],
  },
  "the audit log": {
    path: "/admin/v1/audit_entries",
    field,
    filters: { list: "audit entries" },
    key: await operatorKey(),
    position: [Date.now(), 1],
  },
  "versions of the tariff": {
    path: "/admin/v1/tariff_versions",
    field,
    filters: { list: "tariff_versions" },
    key: await operatorKey(),
    position: [1],
  },
};

const page = ({ path, field, key: apiKey }: List, token: string) =>
  service.request(`${path}?${new URLSearchParams({ [field]: token })}`, { apiKey });

const anyValue = fc.oneof(
  anyText.filter((text) => text.length < 100),
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, true, 2 ** 31, -(2 ** 40), 2 ** 53, "a\u0000b", [1], {}),
);

/** Returns arbitrary positions: `usual` with some values replaced. */
function anyPosition(usual: readonly unknown[]): fc.Arbitrary<unknown[]> {
  const values = usual.map((value) => fc.oneof(fc.constant(value), anyValue));
  return fc
    .tuple(fc.tuple(...values), fc.array(anyValue, { maxLength: 1 }))
    .map(([position, more]) => [...position, ...more]);
}

describe.each([
  "events",
  "shipments",
  "a shipment's events",
  "customers",
  "a webhook's deliveries",
  "workspaces",
  "operators",
  "the audit log",
  "versions of the tariff",
])("a forged token of %s", (name) => {
  test("with a valid position is accepted", async () => {
    const list = lists[name]!;
    expect((await page(list, writePageToken(list.position, list.filters))).status).toBe(200);
  });

  test("with any other position is accepted or refused as invalid, and causes no database error", async () => {
    const list = lists[name]!;
    const property = fc.asyncProperty(anyPosition(list.position), async (position) => {
      const forged = writePageToken(position as (string | number)[], list.filters);
      if (forged.length > 500) return;
      const { status, body } = await page(list, forged);
      if (status !== 200) {
        expect([status, Object.keys(body.errors)]).toEqual([422, [list.field]]);
      }
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
