import type pg from "pg";
import { isForbidden, isUnsupported, UndecidedPrimaryError } from "./database-error.ts";
import { hostText } from "./database-url.ts";

/** Identity of a server and its position in the cluster's history. */
export interface ServerIdentity {
  /** System identifier of the cluster, which a primary and its standbys share. */
  readonly system: string;
  /** Timeline, which each promotion increments. */
  readonly timeline: number;
  /** Start time in microseconds, which identifies a server regardless of its address. */
  readonly startedAt: string;
}

export interface Candidate {
  readonly url: string;
  /** Identity of the server. `undefined` if the server, for example a managed one, does not provide it. */
  readonly identity: ServerIdentity | undefined;
}

/**
 * Reads the timeline from the WAL position, because `pg_control_checkpoint()` returns the old timeline
 * until the first checkpoint.
 */
const IDENTITY = `
  select pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) as wal_file,
         (select system_identifier::text from pg_catalog.pg_control_system()) as system,
         extract(epoch from pg_catalog.pg_postmaster_start_time())::text as started_at`;

/** Returns the identity of a writable server. `undefined` if unavailable. */
export async function readIdentity(client: pg.Client): Promise<ServerIdentity | undefined> {
  try {
    const { rows } = await client.query(IDENTITY);
    const { wal_file: walFile, system, started_at: startedAt } = rows[0];
    // The name of a WAL file begins with the timeline.
    return { system, timeline: Number.parseInt(walFile.slice(0, 8), 16), startedAt };
  } catch (error) {
    if (isForbidden(error) || isUnsupported(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the primary among writable servers: the server with the newest timeline, because a former
 * primary stays on an older timeline. If a server has several addresses, returns the first.
 *
 * @param used the last used server. Servers with an older timeline are excluded.
 * @throws UndecidedPrimaryError if the primary cannot be determined
 */
export function newestPrimary<C extends Candidate>(candidates: readonly C[], used: ServerIdentity | undefined): C {
  const servers = [...Map.groupBy(candidates, serverOf).values()].map(([first]) => first!);
  const systems = new Set(servers.map(({ identity }) => identity?.system));
  if (servers.length > 1 && (systems.size > 1 || systems.has(undefined))) {
    const why = systems.has(undefined) ? "do not report their timelines" : "belong to different clusters";
    throw undecided(servers, `accept writes and ${why}`);
  }
  const newest = Math.max(...servers.map(timelineOf));
  const found = servers.filter((server) => timelineOf(server) === newest);
  if (found.length > 1) throw undecided(found, `accept writes on the same timeline, ${newest}`);
  if (used !== undefined && systems.has(used.system) && newest < used.timeline) {
    throw new UndecidedPrimaryError(
      `${hostsText(found)} accepts writes on timeline ${newest} but is a former primary, because timeline ${used.timeline} was used before`,
      "start the newer server, or restart the service to use this one",
    );
  }
  return found[0]!;
}

/** Returns a key that is equal for all addresses of one server. */
function serverOf({ url, identity }: Candidate): string {
  return identity === undefined ? url : `${identity.system} ${identity.startedAt}`;
}

function timelineOf({ identity }: Candidate): number {
  return identity?.timeline ?? 0;
}

function hostsText(servers: readonly Candidate[]): string {
  return servers.map(({ url }) => hostText(url)).join(" and ");
}

function undecided(servers: readonly Candidate[], what: string): UndecidedPrimaryError {
  return new UndecidedPrimaryError(
    `${hostsText(servers)} ${what}, so the primary cannot be determined`,
    "stop all but one, or make them its standbys",
  );
}
