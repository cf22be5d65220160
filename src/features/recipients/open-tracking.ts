import { setTimeout as sleep } from "node:timers/promises";
import { lockAndLoad } from "../../db/lock-and-load.ts";
import type { EntityManager } from "../../db/orm.ts";
import { inPipeline } from "../../db/transaction.ts";
import { hashKey } from "../../domain/secret-key.ts";
import type { EditResult } from "../../domain/shipment/delivery-details.ts";
import { isSameMac, recipientMac } from "../../domain/shipment/tracking-link.ts";
import { findLinked, type LinkedShipment, type TrackingDeps } from "../shipments/find-tracked.ts";
import type { PictureBucket } from "../shipments/picture-bucket.ts";
import { findPicture } from "../shipments/proof-picture.entity.ts";

export interface OpenDeps extends TrackingDeps {
  readonly bucket: PictureBucket | undefined;
}

/** Details that only the recipient sees on a tracking page. */
interface OpenedDetails {
  readonly address: string;
  readonly instructions: string | undefined;
  readonly mayEdit: boolean;
  /** MAC that opens the page again without the digits. See `recipientMac`. */
  readonly recipientMac: string;
  /**
   * Loads the delivery photo, a JPEG. Resolves to `undefined` before the delivery, or if the photo
   * cannot be read soon enough.
   */
  loadPhoto(): Promise<Buffer | undefined>;
}

/** Result if the digits are wrong or no attempts are left. */
interface WrongDigits {
  readonly triesLeft: number;
}

/** Maximum number of failed attempts per phone number. The probability of guessing four digits is then 1 in 2,000. */
const MAX_TRIES = 5;
/** Number of last digits of the phone number that are compared. */
const DIGITS = 4;

/** Maximum time to wait for a photo from a bucket, in milliseconds. Then the page is sent without the photo. */
const PHOTO_MS = 3_000;

const SPENT = "select hash from spent_attempt where hash = any($1::text[])";
/** Records a failed attempt for the maximum lifetime of a tracking link. */
const SPEND = `
  insert into spent_attempt (hash, ends_at) values ($1, now() + interval '60 days')
  on conflict do nothing`;

/**
 * Proof that a visitor is the recipient: the digits that they entered, or the MAC of a page that was opened with digits
 * earlier.
 */
export interface RecipientProof {
  readonly link: string;
  readonly digits: string;
  readonly recipientMac: string;
}

export interface OpenedLink {
  readonly shipment: LinkedShipment;
  /** `undefined` if the page was opened for a previous phone number, so that digits must be entered again. */
  readonly opened: OpenedDetails | WrongDigits | undefined;
  /** Result of changing the instructions. Omitted if the recipient did not change them. */
  readonly result?: EditResult;
}

/**
 * Opens the part of a tracking page that only the recipient sees. Returns `undefined` if the link
 * is invalid or the shipment has no phone number.
 */
export async function openLinked(
  { link, digits, recipientMac: sentMac }: RecipientProof,
  deps: OpenDeps,
): Promise<OpenedLink | undefined> {
  const shipment = await findLinked(link, deps);
  if (shipment?.recipientPhone === undefined) return undefined;
  const { workspace, tracked, recipientPhone: phone } = shipment;
  const key = { workspace: workspace.id, reference: tracked.reference };
  const mac = recipientMac(workspace, tracked.reference, phone);
  if (!isSameMac(sentMac, mac)) {
    if (sentMac !== "") return { shipment, opened: undefined };
    const isMatch = digits === phone.slice(-DIGITS);
    const problem = await tryDigits(deps.em, `${key.workspace} ${key.reference} ${phone}`, isMatch);
    if (problem !== undefined) return { shipment, opened: problem };
  }
  const loadPhoto = async () =>
    tracked.hasPhoto
      ? Promise.race([
          findPicture(deps, key, "photo").catch(() => undefined),
          sleep(PHOTO_MS, undefined, { ref: false }),
        ])
      : undefined;
  return { shipment, opened: { ...detailsOf(shipment), recipientMac: mac, loadPhoto } };
}

function detailsOf({ dropoffAddress: address, dropoffInstructions: instructions, mayEdit }: LinkedShipment) {
  return { address, instructions, mayEdit };
}

/**
 * Checks the entered digits. Wrong digits use up an attempt.
 *
 * @returns the result, or `undefined` if the digits are accepted
 */
function tryDigits(em: EntityManager, subject: string, isMatch: boolean): Promise<WrongDigits | undefined> {
  const tries = Array.from({ length: MAX_TRIES }, (_, i) => hashKey(`recipient ${subject} ${i}`));
  return inPipeline(em, async (tx) => {
    const spent = await lockAndLoad(tx, `recipient ${subject}`, 0, () => tx.send<{ hash: string }>(SPENT, [tries]));
    const [next, ...left] = tries.filter((hash) => spent.every((row) => row.hash !== hash));
    if (next === undefined) return { triesLeft: 0 };
    if (isMatch) return undefined;
    void tx.send(SPEND, [next]);
    return { triesLeft: left.length };
  });
}
