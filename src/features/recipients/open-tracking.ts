import { setTimeout as sleep } from "node:timers/promises";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { findLinked, type LinkedShipment, type TrackingDeps } from "../shipments/find-tracked.ts";
import type { PictureBucket } from "../shipments/picture-bucket.ts";
import { findPicture } from "../shipments/proof-picture.entity.ts";

export interface OpenDeps extends TrackingDeps {
  readonly bucket: PictureBucket | undefined;
}

/** What whoever has proven to be a shipment's recipient sees besides. */
export interface OpenedDetails {
  readonly address: string;
  /** Loads the photo, a JPEG; undefined before it is delivered, and where it cannot be had at once. */
  loadPhoto(): Promise<Buffer | undefined>;
}

/** Why nothing more is shown: the digits are others, or too many were tried. */
export type OpenProblem = "wrong" | "locked";

/** How many wrong digits are taken for a shipment: of four, so that one in 2,000 guesses their way. */
const MAX_TRIES = 5;
/** How many digits of the phone number are asked for. */
const DIGITS = 4;

/** How long a photo is waited for that is in a bucket, in milliseconds: the address is worth showing without it. */
const PHOTO_MS = 3_000;

const SPENT = "select hash from spent_attempt where hash = any($1::text[])";
/** For as long as a link may work. */
const SPEND = `
  insert into spent_attempt (hash, ends_at) values ($1, now() + interval '60 days')
  on conflict do nothing returning 1`;
const GIVE_BACK = "delete from spent_attempt where hash = $1";

/**
 * Shows what a tracking link alone does not: for the last four digits of the recipient's phone number. The digits are
 * compared once a try is spent, so that many at once are no more than five.
 *
 * @returns undefined for what is no link; else what is shown, or why not
 */
export async function openLinked(
  { link, digits }: { readonly link: string; readonly digits: string },
  deps: OpenDeps,
): Promise<{ found: LinkedShipment; opened: OpenedDetails | OpenProblem } | undefined> {
  const found = await findLinked(link, deps);
  if (found?.recipientPhone === undefined) return undefined;
  const { em } = deps;
  const key = { workspace: found.workspace.id, reference: found.tracked.reference };
  const spent = await spendTry(em, `${key.workspace} ${key.reference} ${found.recipientPhone}`);
  if (spent === undefined) return { found, opened: "locked" };
  if (digits !== found.recipientPhone.slice(-DIGITS)) return { found, opened: "wrong" };
  await runStatement(em, GIVE_BACK, [spent]);
  const loadPhoto = async () =>
    found.hasPhoto
      ? Promise.race([
          findPicture(deps, key, "photo").catch(() => undefined),
          sleep(PHOTO_MS, undefined, { ref: false }),
        ])
      : undefined;
  return { found, opened: { address: found.dropoffAddress, loadPhoto } };
}

/** Spends one of the tries at the phone number of a shipment; undefined when all are. */
async function spendTry(em: EntityManager, subject: string): Promise<string | undefined> {
  const tries = Array.from({ length: MAX_TRIES }, (_, i) => hashKey(`recipient ${subject} ${i}`));
  for (;;) {
    const rows = await runStatement<{ hash: string }>(em, SPENT, [tries]);
    const left = tries.find((hash) => rows.every((row) => row.hash !== hash));
    if (left === undefined) return undefined;
    // Another may have spent it meanwhile.
    if ((await runStatement(em, SPEND, [left])).length > 0) return left;
  }
}
