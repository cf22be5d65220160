import { bookingScript } from "../booking-script.ts";
import { startDatabaseServer, withClient, type Prepared, type Server } from "../database.ts";
import { findPgbench } from "../debian-postgres.ts";
import { createLoader, type Loader } from "../load/http-load.ts";
import { runPgbench } from "../load/pgbench.ts";
import { prepareBookings } from "../prepare-bookings.ts";
import { interleave, type Round } from "../round.ts";
import type { Booker } from "../same-work.ts";
import { SETTINGS } from "../settings.ts";
import { booking } from "../shipments.ts";
import { startBookers } from "../start-bookers.ts";
import { contestTable, type Contest, type Standing } from "../table.ts";

const CLIENTS = [1, 16, 64];
const WARM_UP_CLIENTS = 16;
const PGBENCH_WARM_UP_SECONDS = 2;
const SHIPMENTS = 10_000;
const LIMIT = "pgbench, the same statements (the limit)";

/** Bookings, half of them for new customers. */
export async function createCase(server: Server): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const bookers = await startBookers(owned, server, "bookings", SHIPMENTS);
  const pgbench = findPgbench();
  const loaders = [
    ...bookers.map(({ contestant, database }) =>
      createLoader(contestant, {
        method: "POST",
        path: "/v1/shipments",
        body: JSON.stringify(booking("{customer}")),
        apiKey: database.apiKey,
      }),
    ),
    ...(pgbench === undefined ? [] : [await pgbenchLoader(owned, pgbench, bookers[1])]),
  ];
  for (const load of loaders) await load(WARM_UP_CLIENTS, SETTINGS.seconds);
  const contests: Contest[] = [];
  for (const clients of CLIENTS) {
    const rounds = await interleave(loaders, (load) => load(clients, SETTINGS.seconds));
    contests.push({ load: `${clients} at once`, standings: standingsOf(bookers, rounds) });
  }
  return contestTable(contests);
}

function standingsOf(
  bookers: readonly Booker[],
  rounds: readonly (readonly Round[])[],
): readonly Standing[] {
  return [
    ...bookers.map(({ contestant }, i) => ({ name: contestant.name, rounds: rounds[i]! })),
    { name: LIMIT, rounds: rounds[bookers.length] ?? "pgbench is not installed" },
  ];
}

/**
 * Books straight in a database, with events like those of the peer. On a server of its own, since
 * 64 clients and the connections of the others are more than one server takes.
 */
async function pgbenchLoader(
  owned: AsyncDisposableStack,
  command: string,
  peer: Booker,
): Promise<Loader> {
  const server = owned.use(await startDatabaseServer());
  const database = await prepareBookings(server, "bookings", SHIPMENTS);
  const event_data = await newestEvent(peer.database);
  return (clients, seconds) =>
    runPgbench({
      command,
      databaseUrl: database.url,
      script: bookingScript(),
      variables: { workspace: String(database.workspace), event_data },
      clients,
      seconds,
      warmUpSeconds: PGBENCH_WARM_UP_SECONDS,
      folder: server.folder,
    });
}

async function newestEvent({ url }: Prepared): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ data: string }>(
      "select data::text from event where type = 'shipment.created' order by created_at desc limit 1",
    );
    return rows[0]!.data;
  });
}
