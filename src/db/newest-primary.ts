import type pg from "pg";
import { isForbidden, isUnsupported, UndecidedPrimaryError } from "./database-error.ts";
import { placeOf } from "./database-url.ts";

/** Which server this is, and how far its history goes. */
export interface ServerIdentity {
  /** Of the cluster: a standby has that of the primary that it was copied from. */
  readonly system: string;
  /** A standby that is promoted begins the next one. */
  readonly timeline: number;
  /** When it started, to the microsecond: tells servers apart, whichever addresses lead to them. */
  readonly startedAt: string;
}

export interface Candidate {
  readonly url: string;
  /** Undefined where the server, such as one of a cloud, does not tell. */
  readonly identity: ServerIdentity | undefined;
}

/** Not by `pg_control_checkpoint()`, which names the old timeline until the first checkpoint. */
const IDENTITY = `
  select pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) as wal_file,
         (select system_identifier::text from pg_catalog.pg_control_system()) as system,
         extract(epoch from pg_catalog.pg_postmaster_start_time())::text as started_at`;

/** Asks a server that takes writes who it is; undefined when it does not tell. */
export async function readIdentity(client: pg.Client): Promise<ServerIdentity | undefined> {
  try {
    const { rows } = await client.query(IDENTITY);
    const { wal_file: walFile, system, started_at: startedAt } = rows[0];
    // A WAL file's name begins with its timeline.
    return { system, timeline: Number.parseInt(walFile.slice(0, 8), 16), startedAt };
  } catch (error) {
    if (isForbidden(error) || isUnsupported(error)) return undefined;
    throw error;
  }
}

/**
 * The one to use of the servers that take writes: that of the newest timeline, since a former primary
 * stays on the one before. Of several addresses of one server, the first.
 *
 * @param used the server that was used last; one of an older timeline than that is not taken
 * @throws UndecidedPrimaryError when nothing tells which is the primary
 */
export function newestPrimary<C extends Candidate>(
  candidates: readonly C[],
  used: ServerIdentity | undefined,
): C {
  const servers = [...Map.groupBy(candidates, serverOf).values()].map(([first]) => first!);
  const systems = new Set(servers.map(({ identity }) => identity?.system));
  if (servers.length > 1 && (systems.size > 1 || systems.has(undefined))) {
    const why = systems.has(undefined)
      ? "do not tell their timelines"
      : "are of different clusters";
    throw undecided(servers, `take writes and ${why}`);
  }
  const newest = Math.max(...servers.map(timelineOf));
  const found = servers.filter((server) => timelineOf(server) === newest);
  if (found.length > 1) throw undecided(found, `take writes on one timeline, ${newest}`);
  if (used !== undefined && systems.has(used.system) && newest < used.timeline) {
    throw new UndecidedPrimaryError(
      `${placesOf(found)} takes writes on timeline ${newest} and is a former primary, since timeline ${used.timeline} was used before`,
      "start the newer server, or restart the service to use this one",
    );
  }
  return found[0]!;
}

/** The same for all addresses of one server. */
function serverOf({ url, identity }: Candidate): string {
  return identity === undefined ? url : `${identity.system} ${identity.startedAt}`;
}

function timelineOf({ identity }: Candidate): number {
  return identity?.timeline ?? 0;
}

function placesOf(servers: readonly Candidate[]): string {
  return servers.map(({ url }) => placeOf(url)).join(" and ");
}

function undecided(servers: readonly Candidate[], what: string): UndecidedPrimaryError {
  return new UndecidedPrimaryError(
    `${placesOf(servers)} ${what}, so that nothing tells which is the primary`,
    "stop all but one, or make them its standbys",
  );
}
