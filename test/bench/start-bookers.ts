import { startOurs, startPeer } from "./contestant.ts";
import type { Server } from "./database.ts";
import { copyOf, prepareBookings } from "./prepare-bookings.ts";
import { proveSameWork, type Booker } from "./same-work.ts";

/**
 * Starts ours and the Fastify peer, each on a database of its own with so many shipments, and
 * proves that they do the same work.
 */
export async function startBookers(
  owned: AsyncDisposableStack,
  server: Server,
  name: string,
  shipments: number,
): Promise<readonly [ours: Booker, peer: Booker]> {
  const original = await prepareBookings(server, name, shipments);
  const [database, peerDatabase] = [
    await copyOf(server, original, `${name}_ours`),
    await copyOf(server, original, `${name}_peer`),
  ];
  const ours = {
    contestant: await startOurs(owned, { DATABASE_URL: database.url }),
    database,
  };
  const peer = {
    contestant: await startPeer(owned, "Fastify and pg, SQL by hand", "fastify-bookings.ts", {
      DATABASE_URL: peerDatabase.url,
      API_KEY: peerDatabase.apiKey,
      WORKSPACE: String(peerDatabase.workspace),
    }),
    database: peerDatabase,
  };
  await proveSameWork(ours, peer, shipments);
  return [ours, peer];
}
