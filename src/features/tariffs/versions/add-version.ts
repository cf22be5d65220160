import { announceChange } from "../../../db/change-feed.ts";
import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { refuse } from "../../../domain/refusal.ts";
import { loadScheduledVersion, loadVersion, loadVersionInForce, type VersionRow } from "./load-version.ts";

/** Number of the advisory lock that serializes publishing. */
const PUBLISH_LOCK = 0x5348_5002;

export interface NewVersion {
  /** Version in force that the publisher expects to replace, 0 for none. `undefined` skips the check. */
  readonly replaces: number | undefined;
  readonly digest: string;
  insert(version: number, replaces: number | null): Promise<void>;
}

/** Serializes publishing until the transaction ends. */
export async function lockPublishing(tx: EntityManager): Promise<void> {
  await runStatement(tx, "select pg_advisory_xact_lock($1)", [PUBLISH_LOCK]);
}

/**
 * Adds a version and announces it to all processes, unless it equals the version in force. The transaction must have
 * called `lockPublishing`.
 *
 * @returns the new version, or the equal version in force
 * @throws Refusal TARIFF_REPLACED, TARIFF_SCHEDULED
 */
export async function addVersion(
  tx: EntityManager,
  { replaces, digest, insert }: NewVersion,
): Promise<{ readonly row: VersionRow; readonly added: boolean }> {
  // Must be read before the version in force. A version that takes effect between the two
  // statements is then found as in force.
  const scheduled = await loadScheduledVersion(tx);
  const inForce = await loadVersionInForce(tx);
  assertReplaces(inForce, replaces);
  if (inForce?.digest === digest) return { row: inForce, added: false };
  assertNoneScheduled(scheduled);
  const version = await nextVersion(tx);
  await insert(version, inForce?.version ?? null);
  await announceChange(tx);
  return { row: (await loadVersion(tx, version))!, added: true };
}

function assertReplaces(inForce: VersionRow | undefined, replaces: number | undefined): void {
  const version = inForce?.version ?? 0;
  if (replaces === undefined || replaces === version) return;
  const text =
    version === 0
      ? `No version is in force, so replaces must be 0, not ${replaces}.`
      : `Version ${version} is now in force, not ${replaces}. Compare it with your draft before you replace it.`;
  const facts = { version_in_force: String(version) };
  throw refuse("TARIFF_REPLACED", text, { subject: "replaces", facts });
}

function assertNoneScheduled(scheduled: VersionRow | undefined): void {
  if (scheduled === undefined) return;
  const { version } = scheduled;
  const effectiveAt = new Date(scheduled.effectiveAtMs).toISOString();
  throw refuse(
    "TARIFF_SCHEDULED",
    `Version ${version} takes effect at ${effectiveAt}. Wait until then, or cancel it.`,
    {
      subject: "tariff",
      facts: { scheduled_version: String(version), effective_at: effectiveAt },
    },
  );
}

/** Returns the number for a new version. The numbers of cancelled versions are not reused. */
async function nextVersion(tx: EntityManager): Promise<number> {
  const [row] = await runStatement<{ next: number }>(
    tx,
    "select coalesce(max(version), 0) + 1 as next from tariff_version",
  );
  return row!.next;
}
