import { setTimeout as sleep } from "node:timers/promises";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { EntityManager } from "../../db/orm.ts";
import { inPipeline } from "../../db/transaction.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { isSameMac, recipientMac } from "../../domain/shipment/tracking-link.ts";
import { findLinked, type LinkedShipment, type TrackingDeps } from "../shipments/find-tracked.ts";
import type { PictureBucket } from "../shipments/picture-bucket.ts";
import { findPicture } from "../shipments/proof-picture.entity.ts";

export interface OpenDeps extends TrackingDeps {
  readonly bucket: PictureBucket | undefined;
}

/** Details that a shipment's recipient sees in addition to those on the page. */
interface OpenedDetails {
  readonly address: string;
  /** Opens the page again without the digits; see `recipientMac`. */
  readonly recipientMac: string;
  /**
   * Loads the photo, a JPEG. Returns `undefined` before the delivery, and if the photo cannot be read immediately.
   */
  loadPhoto(): Promise<Buffer | undefined>;
}

/** Result of wrong digits, or of any digits once no tries are left. */
interface WrongDigits {
  readonly triesLeft: number;
}

/** Wrong digits accepted for a phone number. Guesses of four digits succeed once in 2,000. */
const MAX_TRIES = 5;
/** Number of last digits of the phone number that are compared. */
const DIGITS = 4;

/** Maximum time to wait for a photo in a bucket, in milliseconds. The address is shown without it. */
const PHOTO_MS = 3_000;

const SPENT = "select hash from spent_attempt where hash = any($1::text[])";
/** Kept for the maximum lifetime of a link. */
const SPEND = `
  insert into spent_attempt (hash, ends_at) values ($1, now() + interval '60 days')
  on conflict do nothing`;

/**
 * Proof of being a shipment's recipient: digits entered by a person, or the MAC of a page that was opened with them.
 */
export interface RecipientProof {
  readonly link: string;
  readonly digits: string;
  readonly recipientMac: string;
}

interface OpenedLink {
  readonly found: LinkedShipment;
  /** `undefined` if the page was opened for another phone number, so that digits must be entered again. */
  readonly opened: OpenedDetails | WrongDigits | undefined;
}

/**
 * Opens the part of a tracking page that only the recipient sees.
 *
 * @returns `undefined` if the link is invalid or its shipment has no phone number
 */
export async function openLinked(
  { link, digits, recipientMac: given }: RecipientProof,
  deps: OpenDeps,
): Promise<OpenedLink | undefined> {
  const found = await findLinked(link, deps);
  if (found?.recipientPhone === undefined) return undefined;
  const { workspace, tracked, recipientPhone: phone } = found;
  const key = { workspace: workspace.id, reference: tracked.reference };
  const mac = recipientMac(workspace, tracked.reference, phone);
  if (!isSameMac(given, mac)) {
    if (given !== "") return { found, opened: undefined };
    const isMatch = digits === phone.slice(-DIGITS);
    const problem = await tryDigits(deps.em, `${key.workspace} ${key.reference} ${phone}`, isMatch);
    if (problem !== undefined) return { found, opened: problem };
  }
  const loadPhoto = async () =>
    found.hasPhoto
      ? Promise.race([
          findPicture(deps, key, "photo").catch(() => undefined),
          sleep(PHOTO_MS, undefined, { ref: false }),
        ])
      : undefined;
  return { found, opened: { address: found.dropoffAddress, recipientMac: mac, loadPhoto } };
}

/**
 * Uses a try if digits do not match. Matching digits use no try.
 *
 * @returns the result, or `undefined` if the digits match and are accepted
 */
function tryDigits(
  em: EntityManager,
  subject: string,
  isMatch: boolean,
): Promise<WrongDigits | undefined> {
  const tries = Array.from({ length: MAX_TRIES }, (_, i) => hashKey(`recipient ${subject} ${i}`));
  return inPipeline(em, async (tx) => {
    const spent = await lockAndLoad(tx, `recipient ${subject}`, 0, () =>
      tx.send<{ hash: string }>(SPENT, [tries]),
    );
    const [next, ...left] = tries.filter((hash) => spent.every((row) => row.hash !== hash));
    if (next === undefined) return { triesLeft: 0 };
    if (isMatch) return undefined;
    void tx.send(SPEND, [next]);
    return { triesLeft: left.length };
  });
}
