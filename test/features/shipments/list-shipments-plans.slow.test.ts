import { afterAll, describe, expect, test } from "vitest";
import { connect, release } from "../../../src/db/statement.ts";
import { MAX_MATCHES } from "../../../src/db/words.ts";
import { connectTo } from "../../support/database.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { rowsAt, rowsTouched, runPlan, type PlanNode } from "../../support/plans.ts";
import { queriesOf, type SentQuery } from "../../support/query-log.ts";
import { startService } from "../../support/service.ts";

/**
 * Number of shipments in the large workspace. The other workspace has a tenth of that.
 * PLAN_SHIPMENTS overrides the number, for example 1000000, and also prints each plan's duration in
 * milliseconds at the end. No test asserts durations.
 */
const SHIPMENTS = Number(process.env.PLAN_SHIPMENTS ?? 200_000);
const CUSTOMERS = 5_000;
/** Rows read for a page: 25, and one that shows whether there is a next page. */
const PAGE_ROWS = 26;
/** Number of shipments that share a time. A page may have to skip this many. */
const PER_TIMESTAMP = 4;
/**
 * Maximum number of index scans for a customer's list: one per state. Only the few rows that they return are sorted.
 */
const MAX_PARTS = 8;

/**
 * Numbers of shipments per status: few, average and many. As in production, the status depends on the age, and the
 * newest quarter is not delivered yet. The busy customer has no shipment in transit.
 */
const STATES = {
  status: `case when i % 20000 = 7 then 'pending' when i % 20000 = 9 then 'awaiting_pickup'
    when i % 10 = 3 or i % 20000 in (11, 17) then 'cancelled'
    when i % 10 >= 5 and i > ${SHIPMENTS} * 3 / 4 then 'in_transit'
    when i > ${SHIPMENTS} * 3 / 4 then 'pending' else 'delivered' end`,
  paymentStatus: `case when i % 20000 = 7 then 'awaiting_payment' when i % 10 = 3 then 'voided'
    when i % 20000 = 11 then 'refund_pending' when i % 20000 = 17 then 'refunded'
    when i % 20000 <> 9 and i % 10 < 5 and i > ${SHIPMENTS} * 3 / 4 then 'awaiting_payment'
    else 'paid' end`,
};

let busy: number;
/** The shipment in the middle of the list. */
let middle: { created_at: Date; reference: string };

const service = await startService();
const sql = await connectTo(service.databaseUrl);
const large = await service.addWorkspace();
const neighbour = await service.addWorkspace();
for (const [{ id: workspace }, count] of [
  [large, SHIPMENTS],
  [neighbour, SHIPMENTS / 10],
] as const) {
  const first = await insertCustomers(sql, workspace, CUSTOMERS);
  await insertShipments(sql, {
    ...STATES,
    workspace,
    count,
    customer: `case when i % 10 < 5 then ${first} else ${first} + i % ${CUSTOMERS} end`,
    createdAt: `timestamptz '2026-01-01' + ((i / ${PER_TIMESTAMP}) || ' seconds')::interval`,
    externalReference: "'order ' || i",
    totalMinor: "500 + i % 997",
    windows: `case when i % 3 > 0 then jsonb_build_object('pickup', jsonb_build_object(
      'start', to_char(timestamp '2026-02-01' + i % 5000 * interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'end', '2027-01-01T00:00:00.000Z', 'timeZone', 'UTC', 'feeMinor', 0)) end`,
    paymentDetails: `case when i % 10 = 0 then jsonb '{"dispute": null, "refundError": null, "error": "declined",
      "processing": false, "checkout": null, "refundedMinor": 0}' end`,
  });
  // With an empty table, PostgreSQL would read all of it instead of an index.
  await sql.query(
    `insert into customer_alias (workspace_id, id, name, email_lower, customer_id, merged_at)
     select workspace_id, id + 1e9, name, email_lower, id, now() from customer where workspace_id = $1`,
    [workspace],
  );
  if (workspace === large.id) busy = first;
}
await sql.query("analyze");
/** Connection with the settings that are used for calls. */
const serving = await connect(service.app.em);
const { rows } = await sql.query(
  "select created_at, reference from shipment where workspace_id = $1 order by 1 desc, 2 desc offset $2 limit 1",
  [large.id, SHIPMENTS / 2],
);
middle = rows[0];

const times: { readonly query: string; readonly tookMs: number }[] = [];

/** Returns the plan of a query and records its duration. */
async function planOf(name: string, query: SentQuery): Promise<PlanNode[]> {
  const { plan, tookMs } = await runPlan(serving, query);
  times.push({ query: name, tookMs });
  return plan;
}

afterAll(() => {
  release(serving);
  if (process.env.PLAN_SHIPMENTS === undefined) return;
  for (const { query, tookMs } of times) process.stdout.write(`${tookMs.toFixed(2)} ms ${query}\n`);
});

function expectReadInOrder(plan: readonly PlanNode[]): void {
  for (const node of plan) {
    expect(node["Node Type"], JSON.stringify(plan, null, 1)).toMatch(
      /^(Limit|Append|Merge Append|Sort|Subquery Scan|Nested Loop|Memoize|Materialize|Index Scan|Index Only Scan|Result)$/,
    );
  }
  for (const rows of Object.values(rowsTouched(plan))) {
    expect(rows, JSON.stringify(plan, null, 1)).toBeLessThanOrEqual(PAGE_ROWS + PER_TIMESTAMP * MAX_PARTS);
  }
}

/** Returns the SQL that the service sends for a filtered list. */
async function listQuery(path: string): Promise<SentQuery> {
  const queries = await queriesOf(service.app.em, async () => {
    expect(await service.request(path, { apiKey: large.apiKey })).toMatchObject({ status: 200 });
  });
  // Excludes background queries.
  const [query, ...more] = queries.filter(({ sql: text }) =>
    /::text as shipment\b|"totalMinor"|as customer from/.test(text),
  );
  expect(more).toEqual([]);
  return query!;
}

/** Returns the SQL for the second page, and the same SQL for a page in the middle of the list. */
async function laterQueries(path: string): Promise<SentQuery[]> {
  const { body } = await service.request(path, { apiKey: large.apiKey });
  if (body.next_page_token === "") return [];
  const mark = path.includes("?") ? "&" : "?";
  const second = await listQuery(`${path}${mark}page_token=${body.next_page_token}`);
  const last = body.data.at(-1);
  const params = second.params.map((param) => {
    if (param === last.reference) return middle.reference;
    if (param === last.created_at) return middle.created_at;
    return param;
  });
  expect(params).not.toEqual(second.params);
  return [second, { ...second, params }];
}

const STATUSES = ["pending", "awaiting_pickup", "in_transit", "delivered", "cancelled"];
const PAYMENT_STATUSES = ["awaiting_payment", "paid", "refund_pending", "refunded", "voided"];
/** Filters for times before and after the middle of the list, independent of its size. */
const AFTER = `created_after=${timeAt(0.2)}`;
const BEFORE = `created_before=${timeAt(0.9)}`;

/** Returns the time by which this share of the shipments was booked. */
function timeAt(share: number): string {
  const seconds = (share * SHIPMENTS) / PER_TIMESTAMP;
  return new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1_000).toISOString();
}

const IN_STATE = [
  ...STATUSES.map((it) => `status=${it}`),
  ...PAYMENT_STATUSES.map((it) => `payment_status=${it}`),
  "status=cancelled&payment_status=refund_pending",
  "status=delivered&payment_status=paid",
];
const OF_ANY_STATE = ["", AFTER, BEFORE, `${AFTER}&${BEFORE}`];
const FILTERS = [
  ...OF_ANY_STATE,
  ...IN_STATE,
  ...IN_STATE.map((it) => `${it}&${AFTER}&${BEFORE}`),
  ...["BUSY", "QUIET"].flatMap((customer) =>
    [...OF_ANY_STATE, ...IN_STATE].map((it) => `customer_id=${customer}&${it}`),
  ),
];

const QUEUES = [
  ...["pending", "awaiting_pickup", "in_transit"].map((it) => `status=${it}`),
  "payment_status=refund_pending",
];
const ORDERED = [
  ...[...OF_ANY_STATE, ...IN_STATE, "customer_id=BUSY"].map((it) => `order_by=created_at&${it}`),
  ...["total", "total desc", "pickup_window", "pickup_window desc"].flatMap((order) =>
    QUEUES.map((it) => `order_by=${order}&${it}`),
  ),
  `order_by=pickup_window&${QUEUES[0]}&pickup_from=2026-03-02T00:00:00Z&pickup_before=2026-03-02T12:00:00Z`,
];
const FAILED = [...OF_ANY_STATE, "order_by=created_at", "customer_id=BUSY", "customer_id=QUIET"].map(
  (it) => `failed=true&${it}`,
);

function withCustomer(filter: string): string {
  return filter.replace("BUSY", String(busy)).replace("QUIET", String(busy + 15));
}

describe("reads any page of many shipments in order from an index", () => {
  test.each([...FILTERS, ...ORDERED, ...FAILED])("%s", async (filter) => {
    const path = `/v1/shipments?${withCustomer(filter)}`;
    for (const query of [await listQuery(path), ...(await laterQueries(path))]) {
      expectReadInOrder(await planOf(path, query));
    }
  });
});

describe("a list by external reference reads one shipment from its index", () => {
  test.each(["", "&status=delivered", "&payment_status=paid", "&customer_id=BUSY", `&${BEFORE}`])(
    "external_reference%s",
    async (more) => {
      const path = `/v1/shipments?external_reference=order%20101${withCustomer(more)}`;
      const plan = await planOf(path, await listQuery(path));
      expect(plan.map((node) => node["Node Type"])).not.toContain("Seq Scan");
      for (const rows of Object.values(rowsTouched(plan))) expect(rows).toBeLessThanOrEqual(1);
    },
  );
});

/** Maximum number of shipments counted per list, plus one that shows that there are more. */
const COUNTED_ROWS = 1_001;

describe("counts read up to 1,000 shipments of each queue, from the index of its list", () => {
  /** Number of index scans for failed payments: one per payment status. */
  const FAILED_PARTS = PAYMENT_STATUSES.length;
  test.each([
    ["", 1 + 4 + FAILED_PARTS],
    ["status=delivered", 1 + 4 + FAILED_PARTS],
    ["failed=true", FAILED_PARTS + 4 + FAILED_PARTS],
    [`${AFTER}&${BEFORE}`, 1 + 4 + FAILED_PARTS],
    // A customer's failed payments have a separate index for all states.
    ["customer_id=BUSY", MAX_PARTS + 4 + 1],
  ])("%s", async (filter, parts) => {
    const path = `/v1/shipment_counts?${withCustomer(filter)}`;
    const plan = await planOf(path, await listQuery(path));
    const scans = plan.filter((node) => node["Relation Name"] === "shipment");
    // There are scans for the list, the four queues and the failed payments.
    expect(scans).toHaveLength(parts);
    for (const scan of scans) {
      expect(scan["Node Type"], JSON.stringify(plan, null, 1)).toMatch(/^Index (Only )?Scan$/);
      expect(rowsAt(scan)).toBeLessThanOrEqual(COUNTED_ROWS);
    }
  });
});

test("a search reads from indexes and examines few shipments besides the newest", async () => {
  const [shipment] = await sql
    .query("select reference from shipment where workspace_id = $1 limit 1", [large.id])
    .then(({ rows: found }) => found);
  // The search texts match every shipment, a few hundred, or none.
  const reference = shipment.reference.slice(0, 6);
  for (const text of ["order 1", "order 4711", "from", "to", "cust", "c77", "none", reference]) {
    const path = `/v1/search?text=${encodeURIComponent(text)}`;
    const sent = await queriesOf(service.app.em, () => service.request(path, { apiKey: large.apiKey }));
    // Excludes background queries that count calls.
    const searches = sent.filter(({ sql: statement }) =>
      /with recent as materialized|as slot cross join/.test(statement.replaceAll(/\s+/g, " ")),
    );
    expect(searches.length).toBeGreaterThan(0);
    for (const query of searches) {
      await serving.query(`set enable_seqscan = ${/as slot/.test(query.sql) ? "off" : "on"}`);
      const plan = await planOf(path, query);
      expect(plan.map((node) => node["Node Type"])).not.toContain("Seq Scan");
      const { shipment: read = 0, customer = 0 } = rowsTouched(plan);
      // Rows read: the newest 400, the maximum number of compared index entries, and a few rows for customers.
      const most = 400 + MAX_MATCHES + 500;
      expect([read <= most, customer <= most, plan], path).toEqual([true, true, plan]);
    }
  }
});

test("reads any page of customers by name in order from its two indexes", async () => {
  for (const name of ["c", "20"]) {
    const path = `/v1/customers?name=${name}`;
    const { body } = await service.request(path, { apiKey: large.apiKey });
    const second = await listQuery(`${path}&page_token=${body.next_page_token}`);
    const later = { ...second, params: [...second.params.slice(0, -1), busy + 2_000] };
    for (const query of [await listQuery(path), second, later]) {
      const plan = await planOf(path, query);
      expect(plan.map((node) => node["Node Type"])).not.toContain("Seq Scan");
      // One additional row determines where the page starts.
      const { customer } = rowsTouched(plan);
      expect(customer, JSON.stringify(plan, null, 1)).toBeLessThanOrEqual(2 * PAGE_ROWS + 1);
    }
  }
});

test("reads any page of 5,000 customers in order from an index", async () => {
  const { body } = await service.request("/v1/customers?page_size=25", { apiKey: large.apiKey });
  const next = `/v1/customers?page_token=${body.next_page_token}`;
  for (const path of ["/v1/customers", next, "/v1/customers?email=C77@example.org"]) {
    expectReadInOrder(await planOf(path, await listQuery(path)));
  }
});
