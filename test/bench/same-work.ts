import assert from "node:assert/strict";
import type { Contestant } from "./contestant.ts";
import { withClient, type Prepared } from "./database.ts";
import { booking, shipmentName } from "./shipments.ts";

/** A contestant, and the database that it works on. */
export interface Booker {
  readonly contestant: Contestant;
  readonly database: Prepared;
}

/** What is never the same twice. */
const OWN = ["reference", "created_at", "updated_at", "cancelled_at"];
const OWN_IN_EVENTS = ["reference", "createdAt", "updatedAt", "cancelledAt"];

/**
 * Proves that two contestants do the same work, on databases that are the same: they answer the
 * same requests alike, but for references and times, and leave the same rows. The last of the
 * `shipments` there are is cancelled, which no load comes to.
 */
export async function proveSameWork(ours: Booker, peer: Booker, shipments: number): Promise<void> {
  const work = await workOf(ours, shipments);
  assert.deepEqual(await workOf(peer, shipments), work);
  const { customers, shipments: changed, events } = work.rows;
  assert.deepEqual([customers.length, changed.length, events.length], [1, 3, 3]);
}

async function workOf({ contestant, database }: Booker, shipments: number) {
  const call = (method: string, path: string, body?: object) =>
    answerOf(contestant, database.apiKey, method, path, body);
  const begun = new Date();
  const answers = [
    await call("GET", "/v1/shipments"),
    await call("GET", `/v1/shipments/${shipmentName(1)}`),
    await call("POST", "/v1/shipments", booking(7)),
    await call("POST", "/v1/shipments", {
      ...booking(999),
      customer_email: "Somebody@example.org",
    }),
    await call("POST", `/v1/shipments/${shipmentName(shipments)}/cancel`),
  ];
  return { answers, rows: await rowsSince(database.url, begun) };
}

async function answerOf(
  { url }: Contestant,
  apiKey: string,
  method: string,
  path: string,
  body: object | undefined,
) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data } = (await response.json()) as { data: object | object[] };
  // Of old shipments the two give the same times as well.
  return { status: response.status, data: method === "GET" ? data : without(data, OWN) };
}

/** The rows that were written or changed since a moment. */
async function rowsSince(url: string, moment: Date) {
  return withClient(url, async (client) => {
    const rowsOf = async (table: string, time: string, order: string) => {
      const text = `select to_jsonb(t) as row from ${table} t where ${time} >= $1 order by ${order}`;
      const { rows } = await client.query<{ row: Record<string, unknown> }>(text, [moment]);
      return rows.map(({ row }) => row);
    };
    const events = await rowsOf("event", "created_at", "created_at, number");
    return {
      customers: (await rowsOf("customer", "created_at", "id")).map((it) => without(it, OWN)),
      shipments: (await rowsOf("shipment", "updated_at", "updated_at")).map((it) =>
        without(it, OWN),
      ),
      events: events.map((event) => ({
        ...without(event, ["subject", "created_at", "transaction"]),
        data: without(event["data"] as object, OWN_IN_EVENTS),
      })),
    };
  });
}

function without(value: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
