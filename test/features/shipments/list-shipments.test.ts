import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { expectRefused, invalidFields } from "../../support/answers.ts";
import { book, bookAnd, takeStep, type ShipmentJson, type Step } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";

let clock = Date.parse("2026-03-01T00:00:00Z");
const service = await startService({ now: () => new Date(clock) });
const sql = await connectTo(service.databaseUrl);

type Query = Readonly<Record<string, string | number>>;

const ask = (apiKey: string, query: Query) => service.as(apiKey).listShipments(query);

async function list(apiKey: string, query: Query = {}) {
  const { status, text, body } = await ask(apiKey, query);
  expect(status, text).toBe(200);
  expect(Object.keys(body)).toEqual(["data", "next_page_token"]);
  return body as { data: ShipmentJson[]; next_page_token: string };
}

/** Follows a list through all its pages and returns the shipments. */
async function listAll(apiKey: string, query: Query): Promise<ShipmentJson[]> {
  const all: ShipmentJson[] = [];
  let page_token = "";
  do {
    const page = await list(apiKey, page_token === "" ? query : { ...query, page_token });
    all.push(...page.data);
    page_token = page.next_page_token;
  } while (page_token !== "");
  return all;
}

describe("a list of shipments", async () => {
  const WAYS: Step[][] = [
    [],
    ["pay"],
    ["pay", "advance"],
    ["pay", "advance", "advance"],
    ["cancel"],
    ["pay", "cancel"],
    ["pay", "cancel", "refund"],
  ];
  const workspace = await service.addWorkspace();
  /** Shipments, newest first: two in each state, for two customers, a minute apart. */
  const all: ShipmentJson[] = [];
  for (const [i, way] of [...WAYS, ...WAYS].entries()) {
    clock += 60_000;
    const fields = {
      customer_email: `c${i % 2}@example.org`,
      ...(i % 3 === 0 ? { external_reference: `order ${i}` } : {}),
    };
    all.unshift(await bookAnd(service, workspace.apiKey, way, fields));
  }
  const neighbour = await service.addWorkspace();
  await bookAnd(service, neighbour.apiKey, [], { external_reference: "order 0" });

  interface Filter {
    readonly name: string;
    readonly value: (all: readonly ShipmentJson[]) => string | number;
    readonly keeps: (shipment: ShipmentJson, value: any) => boolean;
  }
  const STATES = {
    status: ["pending", "awaiting_pickup", "in_transit", "delivered", "cancelled"],
    payment_status: ["awaiting_payment", "paid", "refund_pending", "refunded", "voided"],
  };
  const FILTERS: Filter[] = [
    ...Object.entries(STATES).flatMap(([name, states]) =>
      states.map((state) => ({
        name,
        value: () => state,
        keeps: (it: ShipmentJson) => it[name] === state,
      })),
    ),
    {
      name: "customer_id",
      value: (shipments) => shipments[0]!["customer"].id,
      keeps: (it, id) => it["customer"].id === id,
    },
    { name: "customer_id", value: () => 2 ** 50, keeps: () => false },
    {
      name: "external_reference",
      value: () => "order 3",
      keeps: (it) => it["external_reference"] === "order 3",
    },
    { name: "external_reference", value: () => "order 1", keeps: () => false },
    {
      name: "created_after",
      value: (shipments) => shipments[9]!["created_at"],
      keeps: (it, time) => it["created_at"] > time,
    },
    {
      name: "created_before",
      value: (shipments) => shipments[3]!["created_at"],
      keeps: (it, time) => it["created_at"] < time,
    },
  ];
  const PAIRS = FILTERS.flatMap((a, i) => FILTERS.slice(i).map((b) => [a, b] as const)).filter(
    ([a, b]) => a === b || a.name !== b.name,
  );

  test("returns every shipment newest first without filters", async () => {
    expect(await list(workspace.apiKey)).toEqual({ data: all, next_page_token: "" });
  });

  test.each(FILTERS.map((it, i) => [`${it.name} ${it.value.length === 0 ? it.value([]) : i}`, it] as const))(
    "filtered by %s, alone and with every other filter, returns the shipments that match both, page by page",
    async (_, filter) => {
      for (const [a, b] of PAIRS.filter(([first]) => first === filter)) {
        const query = { [a.name]: a.value(all), [b.name]: b.value(all) };
        const kept = all.filter((it) => a.keeps(it, query[a.name]) && b.keeps(it, query[b.name]));
        expect(await list(workspace.apiKey, query)).toEqual({ data: kept, next_page_token: "" });
        expect(await listAll(workspace.apiKey, { ...query, page_size: 2 })).toEqual(kept);
      }
    },
  );

  test("excludes shipments booked exactly at its time bounds", async () => {
    const at = all[5]!["created_at"];
    expect((await list(workspace.apiKey, { created_after: at })).data).toEqual(all.slice(0, 5));
    expect((await list(workspace.apiKey, { created_before: at })).data).toEqual(all.slice(6));
    const later = at.replace("Z", "000001Z");
    expect((await list(workspace.apiKey, { created_before: later })).data).toEqual(all.slice(5));
    const grpc = service.grpcClient(workspace.apiKey);
    const seconds = BigInt(Date.parse(at) / 1000);
    const until = await grpc.listShipments({ createdBefore: { seconds, nanos: 1 } });
    expect(until.data.map((it) => it.reference)).toEqual(all.slice(5).map((it) => it["reference"]));
    const since = await grpc.listShipments({
      createdAfter: { seconds: seconds - 1n, nanos: 999_999_999 },
    });
    expect(since.data.map((it) => it.reference)).toEqual(all.slice(0, 6).map((it) => it["reference"]));
  });

  test("bounded by the first and the last possible time returns every shipment", async () => {
    for (const query of [
      { created_after: "0001-01-01T00:00:00Z" },
      { created_before: "9999-12-31T23:59:59.999999999Z" },
    ] as Query[]) {
      expect((await list(workspace.apiKey, query)).data).toEqual(all);
    }
    const grpc = service.grpcClient(workspace.apiKey);
    const { data } = await grpc.listShipments({
      createdAfter: { seconds: -62_135_596_800n, nanos: 0 },
      createdBefore: { seconds: 253_402_300_799n, nanos: 999_999_999 },
    });
    expect(data).toHaveLength(all.length);
  });
});

describe("a list of shipments rejects", async () => {
  const { apiKey } = await service.addWorkspace();

  test.each([
    ["status", "lost"],
    ["status", "SHIPMENT_STATUS_PENDING"],
    ["status", "1"],
    ["payment_status", "unspecified"],
    ["customer_id", "seven"],
    ["customer_id", "1.5"],
    ["created_after", "yesterday"],
    ["created_after", "2026-01-01"],
    ["created_after", "0000-12-31T23:59:59Z"],
    ["created_before", "9999-12-31T23:59:59-00:01"],
    ["page_size", "0"],
    ["page_size", "101"],
    ["page_size", "-1"],
    ["page_size", "2.5"],
    ["page_size", "all"],
    ["page_token", "x"],
    ["page_token", "x".repeat(501)],
  ])("%s %s as an error of that field", async (name, value) => {
    const { code, body } = await ask(apiKey, { [name]: value });
    expect([code, body.errors]).toEqual(["FIELD_INVALID", { [name]: [expect.any(String)] }]);
  });

  test("an unknown status number and an empty time range, with the allowed values", async () => {
    const statuses = "PENDING AWAITING_PICKUP IN_TRANSIT DELIVERED CANCELLED RETURNED".split(" ");
    const names = statuses.map((name) => `SHIPMENT_STATUS_${name}`).join(", ");
    const listing = service.grpcClient(apiKey).listShipments({ status: 99 as ShipmentStatus });
    expect(await rpcError(listing)).toMatchObject({
      code: "InvalidArgument",
      message: `status must be one of ${names}.`,
    });
    const at = "2026-11-01T00:00:00Z";
    await expectRefused(ask(apiKey, { created_after: at, created_before: at }), "FIELD_INVALID", {
      created_before: "created_before must be later than created_after.",
    });
  });

  test("all invalid fields together, in the order of the fields", async () => {
    const listing = ask(apiKey, { page_size: 0, status: "lost", created_after: "now" });
    expect(await invalidFields(listing)).toEqual(["status", "created_after", "page_size"]);
  });

  test.each([
    { seconds: -62_135_596_801n, nanos: 0 },
    { seconds: 253_402_300_800n, nanos: 0 },
    { seconds: 2n ** 62n, nanos: 0 },
    { seconds: 0n, nanos: -1 },
    { seconds: 0n, nanos: 1_000_000_000 },
  ])("an invalid time over gRPC as an error of that field: %o", async (time) => {
    const grpc = service.grpcClient(apiKey);
    const text =
      time.nanos === 0
        ? "created_before must be a time from year 0001 to 9999."
        : `created_before must have nanos from 0 to 999,999,999; they are ${time.nanos}.`;
    expect(await rpcError(grpc.listShipments({ createdBefore: time }))).toEqual(
      rpcRefusal("InvalidArgument", "FIELD_INVALID", text, "created_before"),
    );
  });
});

/** Returns payment details in the form in which they are stored. */
function details(paymentDetails: object): string {
  const nothing = { checkout: null, processing: false, error: null, refundError: null };
  const all = { ...nothing, refundedMinor: 0, dispute: null, ...paymentDetails };
  return `jsonb '${JSON.stringify(all)}'`;
}

describe("a list of failed shipments", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const first = await insertCustomers(sql, id, 2);
  const UNPAID = ["pending", "awaiting_payment"];
  const VOIDED = ["cancelled", "voided"];
  const REFUND = ["cancelled", "refund_pending"];
  const DELIVERED = ["delivered", "paid"];
  const CASES: [what: string, state: string[], details: object | undefined, failed: boolean][] = [
    ["a failed payment", UNPAID, { error: "declined" }, true],
    ["a processing payment", UNPAID, { processing: true }, false],
    ["no payment details", UNPAID, undefined, false],
    ["a failed payment of a cancelled shipment", VOIDED, { error: "x" }, false],
    ["a failed refund", REFUND, { refundError: "account closed" }, true],
    ["a pending refund", REFUND, {}, false],
    ["an open dispute", DELIVERED, { dispute: "open" }, true],
    ["a lost dispute", ["in_transit", "paid"], { dispute: "lost" }, false],
    ["a processing payment to a closed account", UNPAID, { error: "closed", processing: true }, true],
    ["an accepted payment", VOIDED, { error: "x", accepted: 1 }, false],
    ["an unassigned payment", VOIDED, { error: "x", uncounted: 1 }, true],
    ["a won dispute", DELIVERED, { dispute: "won" }, false],
    ["a checkout in an inaccessible account, which may have been paid", DELIVERED, { unseen: 1 }, true],
  ];
  const failed: string[] = [];
  for (const [i, [, [status, paymentStatus], paymentDetails, isFailed]] of CASES.entries()) {
    const [reference] = await insertShipments(sql, {
      workspace: id,
      count: 1,
      customer: String(first + (i % 2)),
      status: `'${status}'`,
      paymentStatus: `'${paymentStatus}'`,
      createdAt: `timestamptz '2026-02-01' + interval '${i} hours'`,
      externalReference: `'case ${i}'`,
      salt: `case ${i} ${id}`,
      ...(paymentDetails && { paymentDetails: details(paymentDetails) }),
    });
    if (isFailed) failed.unshift(reference!);
  }
  const references = (shipments: ShipmentJson[]) => shipments.map((it) => it["reference"]);

  test("returns the shipments that need attention, in either time order, with other filters, page by page", async () => {
    const listed = async (query: Query) => references(await listAll(apiKey, query));
    expect(await listed({ failed: "true", page_size: 1 })).toEqual(failed);
    expect(await listed({ failed: "true", order_by: "created_at", page_size: 2 })).toEqual(failed.toReversed());
    expect(await listed({ failed: "false" })).toHaveLength(CASES.length);
    expect(await listed({ failed: "true", customer_id: first })).toEqual(failed);
    expect(await listed({ failed: "true", customer_id: first + 1 })).toEqual([]);
    expect(await listed({ failed: "true", external_reference: "case 4" })).toEqual([failed.at(-2)]);
    expect(await listed({ failed: "true", external_reference: "case 5" })).toEqual([]);
    const after = "2026-02-01T00:00:00Z";
    expect(await listed({ failed: "true", created_after: after })).toEqual(failed.slice(0, -1));
  });

  test.each([{ status: "pending" }, { payment_status: "paid" }])("rejects %j", async (status) => {
    const { listShipments, countShipments } = service.as(apiKey);
    for (const call of [listShipments, countShipments]) {
      await expectRefused(call({ failed: true, ...status }), "FIELD_INVALID", {
        failed: "failed matches shipments of any status. Omit status and payment_status.",
      });
    }
  });
});

describe("the order of a list of shipments", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const customer = String(await insertCustomers(sql, id, 1));
  const QUEUES = [
    ["pending", "awaiting_payment", { status: "pending" }],
    ["awaiting_pickup", "paid", { status: "awaiting_pickup" }],
    ["in_transit", "paid", { status: "in_transit", payment_status: "paid" }],
    ["cancelled", "refund_pending", { payment_status: "refund_pending" }],
    // Finished shipments are sorted only by time.
    ["delivered", "paid", { status: "delivered" }],
    ["cancelled", "voided", { payment_status: "voided" }],
  ] as const;
  for (const [status, paymentStatus] of QUEUES) {
    await insertShipments(sql, {
      workspace: id,
      count: 30,
      customer,
      status: `'${status}'`,
      paymentStatus: `'${paymentStatus}'`,
      // Shipments with equal sort keys are sorted by time and then by reference.
      createdAt: "timestamptz '2026-01-01' + ((i / 3) || ' seconds')::interval",
      totalMinor: "500 + i * 7 % 5",
      windows: `case when i % 4 > 0 then json_build_object('dropoff', null, 'pickup',
        json_build_object('start', '2026-03-0' || i % 4 || 'T08:00:00.000Z', 'end',
          '2026-03-0' || i % 4 || 'T10:00:00.000Z', 'timeZone', 'UTC', 'feeMinor', 0))::jsonb end`,
      salt: `${status} ${paymentStatus} ${id}`,
    });
  }
  /** Sort keys of a shipment, as fixed-length texts that sort like the values. */
  const KEYS: Record<string, (it: ShipmentJson) => string> = {
    created_at: () => "",
    total: (it) => it["total"].toFixed(2),
    pickup_window: (it) => it["pickup_window"]?.start ?? "",
  };
  const all = await listAll(apiKey, { page_size: 100 });

  const keyOf = (field: string, it: ShipmentJson) => `${KEYS[field]!(it)} ${it["created_at"]} ${it["reference"]}`;

  function sorted(field: string, [status, paymentStatus]: (typeof QUEUES)[number]): string[] {
    return all
      .filter((it) => it["status"] === status && it["payment_status"] === paymentStatus)
      .map((it) => keyOf(field, it))
      .toSorted();
  }

  async function listedBy(field: string, order_by: string, filter: Query): Promise<string[]> {
    const listed = await listAll(apiKey, { ...filter, order_by, page_size: 7 });
    return listed.map((it) => keyOf(field, it));
  }

  test.each(Object.keys(KEYS))("by %s can be ascending and descending, page by page", async (field) => {
    for (const queue of QUEUES.slice(0, field === "created_at" ? undefined : 4)) {
      const expected = sorted(field, queue);
      expect(expected).toHaveLength(30);
      expect(await listedBy(field, field, queue[2])).toEqual(expected);
      expect(await listedBy(field, `${field} desc`, queue[2])).toEqual(expected.toReversed());
    }
  });

  test("by pickup_window can be limited to one day, page by page", async () => {
    const from = "2026-03-02T08:00:00Z";
    const before = "2026-03-03T08:00:00Z";
    for (const queue of QUEUES.slice(0, 4)) {
      const keys = sorted("pickup_window", queue);
      const ranges: [Query, string[]][] = [
        [{ pickup_from: from, pickup_before: before }, keys.filter((key) => key.startsWith("2026-03-02"))],
        [{ pickup_from: before }, keys.filter((key) => key.startsWith("2026-03-03"))],
        // Shipments without a window come first.
        [{ pickup_before: from }, keys.filter((key) => key < "2026-03-02")],
      ];
      for (const [range, expected] of ranges) {
        expect(expected.length).toBeGreaterThan(6);
        const filter = { ...queue[2], ...range };
        expect(await listedBy("pickup_window", "pickup_window", filter)).toEqual(expected);
        expect(await listedBy("pickup_window", "pickup_window desc", filter)).toEqual(expected.toReversed());
      }
    }
  });

  test("must be by pickup_window for a pickup range, which must not be empty", async () => {
    const [status, pickup_from] = ["pending", "2026-03-02T08:00:00Z"];
    const cases: [Query, Record<string, string>][] = [
      [{ status, pickup_from }, { pickup_from: "pickup_from requires order_by pickup_window or pickup_window desc." }],
      [
        { status, pickup_before: pickup_from, order_by: "total" },
        { pickup_before: "pickup_before requires order_by pickup_window or pickup_window desc." },
      ],
      [
        { status, pickup_from, pickup_before: pickup_from, order_by: "pickup_window" },
        { pickup_before: "pickup_before must be later than pickup_from." },
      ],
    ];
    for (const [query, errors] of cases) {
      await expectRefused(ask(apiKey, query), "FIELD_INVALID", errors);
    }
  });

  test("is rejected with the possible filters if no index supports it", async () => {
    const filters: Query[] = [
      {},
      { status: "delivered" },
      { status: "cancelled" },
      { payment_status: "paid" },
      { payment_status: "voided" },
      { status: "pending", payment_status: "paid" },
      { status: "pending", customer_id: 1 },
      { status: "pending", external_reference: "a" },
      { status: "pending", created_after: "2026-01-01T00:00:00Z" },
      { failed: "true" },
    ];
    for (const field of ["total", "pickup_window"]) {
      const text =
        `order_by ${field} requires a single queue: set status pending, awaiting_pickup or in_transit, or ` +
        "payment_status refund_pending, and no other filter. With any filters order_by can be created_at or created_at desc.";
      for (const filter of filters) {
        const listing = ask(apiKey, { ...filter, order_by: `${field} desc` });
        await expectRefused(listing, "FIELD_INVALID", { order_by: text });
      }
    }
    await expectRefused(ask(apiKey, { order_by: "name" }), "FIELD_INVALID", {
      order_by:
        "order_by must be one of created_at desc, created_at, total desc, total, pickup_window desc, pickup_window.",
    });
  });

  test("must match the page token, and is created_at desc by default", async () => {
    const token = async (order_by?: string) => {
      const query = { status: "pending", page_size: 3, ...(order_by && { order_by }) };
      return (await list(apiKey, query)).next_page_token;
    };
    expect(await token("created_at desc")).toBe(await token());
    const orders = ["created_at", "created_at desc", "total", "total desc", "pickup_window"];
    for (const made of orders) {
      for (const used of orders.filter((order) => order !== made)) {
        const query = { status: "pending", order_by: used, page_token: await token(made) };
        const { body } = await ask(apiKey, query);
        expect([made, used, Object.keys(body.errors)]).toEqual([made, used, ["page_token"]]);
      }
    }
  });
});

describe("pages of shipments", async () => {
  const workspace = await service.addWorkspace();
  const customer = await insertCustomers(sql, workspace.id, 1);
  await insertShipments(sql, {
    workspace: workspace.id,
    count: 150,
    customer: String(customer),
    // Seven shipments share each time. They are sorted by reference.
    createdAt: "timestamptz '2026-01-01' + ((i / 7) || ' seconds')::interval",
  });

  test.each([1, 7, 24, 25, 26, 75, 100])("with size %i return every shipment once, in order", async (page_size) => {
    const listed = await listAll(workspace.apiKey, { page_size });
    const keys = listed.map((it) => `${it["created_at"]} ${it["reference"]}`);
    expect(new Set(keys).size).toBe(150);
    expect(keys).toEqual(keys.toSorted().reverse());
  });

  test("have 25 shipments by default and up to 100, and the last one has no token", async () => {
    expect((await list(workspace.apiKey)).data).toHaveLength(25);
    const first = await list(workspace.apiKey, { page_size: 100 });
    expect(first.data).toHaveLength(100);
    const second = await list(workspace.apiKey, {
      page_token: first.next_page_token,
      page_size: 50,
    });
    expect(second.data).toHaveLength(50);
    expect(second.next_page_token).toBe("");
  });

  test("have tokens that reveal nothing and work with any page size", async () => {
    const { next_page_token, data } = await list(workspace.apiKey, { page_size: 3 });
    expect(next_page_token).toMatch(/^[A-Za-z0-9_-]{1,500}$/);
    expect(next_page_token).not.toContain(data[2]!["reference"]);
    const rest = await list(workspace.apiKey, { page_token: next_page_token, page_size: 1 });
    const again = await list(workspace.apiKey, { page_token: next_page_token, page_size: 100 });
    expect(again.data[0]).toEqual(rest.data[0]);
  });

  test("reject a token with other filters, or with any character changed", async () => {
    const filters = { status: "pending", created_after: "2025-01-01T00:00:00Z" };
    const { next_page_token } = await list(workspace.apiKey, { ...filters, page_size: 3 });
    const expectForeign = (query: Query) =>
      expectRefused(ask(workspace.apiKey, query), "FIELD_INVALID", {
        page_token: "page_token is not the next_page_token of a page with these filters.",
      });
    const others: Query[] = [
      {},
      { status: "pending" },
      { ...filters, status: "cancelled" },
      { ...filters, created_after: "2025-01-01T00:00:01Z" },
      { ...filters, payment_status: "awaiting_payment" },
      { ...filters, payment_status: "paid" },
      { ...filters, customer_id: customer },
      { ...filters, external_reference: "a" },
    ];
    for (const query of others) await expectForeign({ ...query, page_token: next_page_token });
    const tampered = [
      ...Array.from(next_page_token, (character, i) => {
        const other = character === "A" ? "B" : "A";
        return next_page_token.slice(0, i) + other + next_page_token.slice(i + 1);
      }),
      `${next_page_token}A`,
      `${next_page_token}=`,
      next_page_token.slice(0, -1),
      next_page_token.slice(1),
    ];
    for (const page_token of tampered) await expectForeign({ ...filters, page_token });
  });

  test("neither repeat nor miss a row while others are inserted", async () => {
    let round = 0;
    const inserts = fc.array(
      fc.record({
        count: fc.integer({ min: 0, max: 5 }),
        // Times before, among and after the listed shipments.
        second: fc.integer({ min: -2, max: 8 }),
      }),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), inserts, fc.boolean(), async (page_size, plan, filtered) => {
        const { id, apiKey } = await service.addWorkspace();
        const [first] = [await insertCustomers(sql, id, 1)];
        const insert = (count: number, createdAt: string) =>
          insertShipments(sql, {
            workspace: id,
            count,
            customer: String(first),
            createdAt,
            salt: String(round++),
          });
        const before = await insert(18, "timestamptz '2026-01-01' + ((i / 3) || ' seconds')::interval");
        const seen: string[] = [];
        const pending = [...plan];
        let page_token = "";
        do {
          const page = await list(apiKey, {
            page_size,
            ...(filtered ? { status: "pending" } : {}),
            ...(page_token === "" ? {} : { page_token }),
          });
          seen.push(...page.data.map((it) => it["reference"]));
          const next = pending.shift();
          if (next !== undefined) {
            await insert(next.count, `timestamptz '2026-01-01' + interval '${next.second} seconds'`);
          }
          page_token = page.next_page_token;
        } while (page_token !== "");
        expect(new Set(seen).size).toBe(seen.length);
        expect(before.filter((reference) => !seen.includes(reference))).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  test("end even if the last row no longer matches", async () => {
    const { apiKey } = await service.addWorkspace();
    const [a, b] = [await book(service, apiKey), await book(service, apiKey)];
    const { next_page_token } = await list(apiKey, { status: "pending", page_size: 1 });
    for (const { reference } of [a, b]) await takeStep(service, apiKey, reference, "cancel");
    expect(await list(apiKey, { status: "pending", page_token: next_page_token })).toEqual({
      data: [],
      next_page_token: "",
    });
  });
});
