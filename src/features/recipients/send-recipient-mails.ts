import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { deleteOldest } from "../../db/statement.ts";
import type { MailContent } from "../../domain/mail-html.ts";
import { kindOf, type RecipientMailKind } from "../../domain/shipment/recipient-mail.ts";
import type { TrackedShipment } from "../../domain/shipment/tracked-shipment.ts";
import { isSameMac, unsubscribeMac } from "../../domain/shipment/tracking-link.ts";
import { foldEmail } from "../customers/link-customers.ts";
import { createMailQueue, type LeasedMail, messageIdOf, type SendMailsDeps } from "../mails/mail-queue.ts";
import { findLinked, findTracked, type TrackingDeps } from "../shipments/find-tracked.ts";
import { trackingUrl as trackingUrlOf } from "../workspaces/tracking-urls.ts";
import { hasOptedOut, insertOptOut } from "./recipient-opt-out.entity.ts";

export interface SendRecipientMailsDeps extends SendMailsDeps, TrackingDeps {
  /** Returns the content of an email in the recipient's language. */
  readonly contentOf: (
    kind: RecipientMailKind,
    tracked: TrackedShipment,
    own: {
      readonly trackingUrl: string;
      readonly unsubscribeUrl: string;
      readonly pin: string | undefined;
    },
  ) => MailContent;
}

/**
 * Maximum number of concurrent emails per workspace. Low, so that others are not delayed while the mail server is slow.
 */
const WORKSPACE_CONCURRENCY = 2;
/** Age after which a recipient email is no longer sent, in milliseconds, because its content is outdated. */
const LIFETIME_MS = 60 * 60_000;
/** Retention of recipient emails, as a PostgreSQL interval. A stored email prevents another one of the same kind. */
const RETENTION = "30 days";

const FIND_DUE = `
  select workspace_id::float8 as workspace, shipment_reference || ' ' || kind as reference,
    extract(epoch from next_attempt_at)::float8 as due
  from recipient_notice
  where state = 'waiting' and next_attempt_at <= now() and workspace_id <> all($2::bigint[])
  order by next_attempt_at limit $1::int`;

interface LeasedRecipientMail extends LeasedMail {
  readonly workspace: number;
  readonly reference: string;
  readonly kind: RecipientMailKind;
}

/**
 * Creates the queue that sends recipient emails. An email is dropped if the shipment has progressed, if the
 * workspace has disabled such emails, or if the recipient's email was removed or has unsubscribed.
 */
export function createRecipientMailQueue(deps: SendRecipientMailsDeps): LeasedQueue {
  return createMailQueue<LeasedRecipientMail>(
    {
      name: "recipient_mails",
      table: "recipient_notice",
      key: ["workspace_id", "shipment_reference", "kind"],
      columns: "workspace_id::float8 as workspace, shipment_reference as reference, kind",
      workspaceConcurrency: WORKSPACE_CONCURRENCY,
      find: ({ limit, exceptWorkspaces: except }) =>
        findDue<WorkItem & DueRow>(deps.em, { sql: FIND_DUE, values: [limit, except] }, limit),
      keyOf: ({ workspace, reference = "" }) => [workspace, ...reference.split(" ")],
      lifetimeMs: () => LIFETIME_MS,
      write: (leased) => writeRecipientMail(deps, leased),
    },
    deps,
  );
}

async function writeRecipientMail(deps: SendRecipientMailsDeps, leased: LeasedRecipientMail) {
  const { kind, reference, createdMs } = leased;
  const found = await findTracked(leased, deps);
  if (found?.recipientEmail === undefined) return undefined;
  const { tracked, recipientEmail: to, workspace } = found;
  const isWanted = workspace.notifiesRecipients && !workspace.test && kindOf(tracked) === kind;
  const email = foldEmail(to);
  if (!isWanted || (await hasOptedOut(deps.em, workspace.id, email))) return undefined;
  const trackingUrl = trackingUrlOf(deps.publicUrl, workspace, reference);
  const unsubscribeUrl = `${trackingUrl}/unsubscribe/${unsubscribeMac(workspace, reference, email)}`;
  const own = { trackingUrl, unsubscribeUrl, pin: found.dropoffPin };
  const content = deps.contentOf(kind, tracked, own);
  const messageId = messageIdOf(`${reference}.${kind}.${createdMs}`, deps.publicUrl);
  return { mail: { ...content, messageId, to, unsubscribeUrl } };
}

interface Unsubscribing {
  readonly sender: string;
  /** Language of the recipient (RFC 5646). */
  readonly recipientLocale: string | undefined;
}

/**
 * Unsubscribes the recipient of a shipment from a workspace's emails. Returns `undefined` if the
 * link is invalid or the recipient's email has changed.
 *
 * @param link the tracking link
 * @param mac the code in the unsubscribe link that authorizes it
 * @param isConfirmed whether to unsubscribe. If false, only checks the link
 */
export async function unsubscribe(
  { link, mac, isConfirmed }: { link: string; mac: string; isConfirmed: boolean },
  deps: TrackingDeps,
): Promise<Unsubscribing | undefined> {
  const found = await findLinked(link, deps);
  if (found?.recipientEmail === undefined) return undefined;
  const { tracked, workspace } = found;
  const email = foldEmail(found.recipientEmail);
  if (!isSameMac(mac, unsubscribeMac(workspace, tracked.reference, email))) return undefined;
  if (isConfirmed) await insertOptOut(deps.em, workspace.id, email);
  return { sender: tracked.workspace.name, recipientLocale: tracked.recipientLocale };
}

/**
 * Deletes recipient emails older than 30 days in batches, regardless of their outcome. Returns the
 * number of deleted emails.
 */
export function purgeRecipientMails(em: EntityManager): Promise<number> {
  return deleteOldest(em, "recipient_notice", "created_at", `now() - interval '${RETENTION}'`, []);
}
