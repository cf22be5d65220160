import { startOurs, type Contestant } from "../contestant.ts";
import { withClient, type Prepared, type Server } from "../database.ts";
import { figureOf } from "../figure.ts";
import { createLoader, type HttpRequests, type Loader } from "../load/http-load.ts";
import { prepareBookings } from "../prepare-bookings.ts";
import { interleave, type Round } from "../round.ts";
import { SETTINGS } from "../settings.ts";
import { booking } from "../shipments.ts";
import { number, rateRatio, spread, table } from "../table.ts";

/** One client at a time, so that the rate is the inverse of what a request costs. */
const CONNECTIONS = 1;
const FEW = 10_000;

const OPERATIONS: readonly (readonly [name: string, Omit<HttpRequests, "apiKey" | "shipments">])[] =
  [
    ["list, 25 a page", { method: "GET", path: "/v1/shipments" }],
    ["cancel", { method: "POST", path: "/v1/shipments/{shipment}/cancel" }],
    [
      "create",
      { method: "POST", path: "/v1/shipments", body: JSON.stringify(booking("{customer}")) },
    ],
  ];

/** What list, cancel and create cost when there are many shipments, and when there are few. */
export async function growth(server: Server): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const sizes = [FEW, SETTINGS.manyShipments];
  const databases: Prepared[] = [];
  for (const size of sizes) {
    databases.push(await prepareBookings(server, `growth_${size}`, size));
  }
  const begun = new Date();
  const contestants: Contestant[] = [];
  for (const { url } of databases) contestants.push(await startOurs(owned, { DATABASE_URL: url }));

  const rows: string[][] = [];
  for (const [name, requests] of OPERATIONS) {
    const loaders = sizes.map((shipments, i): Loader => {
      const database = databases[i]!;
      const load = createLoader(contestants[i]!, {
        ...requests,
        shipments,
        apiKey: database.apiKey,
      });
      return async (connections, seconds) => {
        const round = await load(connections, seconds);
        await restore(database, begun);
        return round;
      };
    });
    for (const load of loaders) await load(CONNECTIONS, 1);
    const rounds = await interleave(loaders, (load) => load(CONNECTIONS, SETTINGS.seconds));
    rows.push([name, ...cells(rounds[0]!, rounds[1]!)]);
  }
  const [few, many] = sizes.map((size) => number(size, 0));
  const columns = [`${many} ÷ ${few}`, ...[few, many].flatMap(columnsOf)];
  return table(["one client, cost with so many shipments", ...columns], rows);
}

function columnsOf(size: string | undefined): string[] {
  return [`requests/s at ${size}`, `median, ms, at ${size}`];
}

function cells(few: readonly Round[], many: readonly Round[]): string[] {
  // A cost is the inverse of a rate.
  return [
    spread(rateRatio(few, many), 2),
    ...[few, many].flatMap((rounds) => [
      spread(figureOf(rounds.map((round) => round.requestsPerSecond)), 0),
      spread(figureOf(rounds.map((round) => round.medianMs)), 2),
    ]),
  ];
}

/**
 * Takes back what a round did, so that each finds as many pending shipments as the first. New
 * customers stay: to let one go, PostgreSQL looks through all shipments for one of its own.
 */
async function restore({ url, workspace }: Prepared, begun: Date): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("delete from event where created_at >= $1", [begun]);
    await client.query(
      `delete from shipment
       where workspace_id = $1 and created_at >= $2 and reference <> 'shipment_by_age'`,
      [workspace, begun],
    );
    await client.query(
      `update shipment set status = 'pending', payment_status = 'awaiting_payment',
         cancelled_at = null, updated_at = created_at, event_count = 1, version = 1
       where workspace_id = $1 and status = 'cancelled' and reference <> 'shipment_by_status'`,
      [workspace],
    );
    await client.query("vacuum shipment, event");
    await client.query("checkpoint");
  });
}
