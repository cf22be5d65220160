import type { EntityManager } from "../db/orm.ts";
import { purgeCourierLinks } from "../features/couriers/courier-links.ts";
import { purgeKeys } from "../features/credentials/secret-keys.ts";
import { purgeEvents } from "../features/events/purge-events.ts";
import { purgeStoredResponses } from "../features/idempotency/stored-responses.ts";
import { purgeProviderEvents } from "../features/payments/payment-jobs.ts";
import { purgeSignIns } from "../features/people/end-sign-ins.ts";
import { purgeMails } from "../features/people/send-mails.ts";
import { purgeRecipientMails } from "../features/recipients/send-recipient-mails.ts";
import { purgeRequests } from "../features/reports/request-log.ts";
import { purgeReports } from "../features/reports/usage-counter.ts";
import { purgeTestData } from "../features/test-mode/delete-test-data.ts";
import { purgeDeliveries } from "../features/webhooks/webhook-delivery.entity.ts";
import { purgePlaces } from "../features/shipments/courier-places.ts";
import { purgePictures } from "../features/shipments/proof-picture.entity.ts";
import { purgeSlots } from "../features/slots/slots.ts";
import { purgeUsedQuotes } from "../features/quotes/used-quote.entity.ts";

export interface PurgeOptions {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Retention of events in days. `undefined` for unlimited. */
  readonly eventRetentionDays?: number | undefined;
}

/** Deletes expired rows. Returns their number. */
export type Purge = (options: PurgeOptions) => Promise<number>;

/** Purges by kind of expired data. The kinds are labels in metrics. */
export const PURGES = {
  stored_responses: ({ em }) => purgeStoredResponses(em),
  keys: ({ em }) => purgeKeys(em),
  deliveries: ({ em, now }) => purgeDeliveries(em, now()),
  proof_pictures: ({ em }) => purgePictures(em),
  courier_places: ({ em }) => purgePlaces(em),
  used_quotes: ({ em }) => purgeUsedQuotes(em),
  slots: ({ em }) => purgeSlots(em),
  payment_notices: ({ em, now }) => purgeProviderEvents(em, now()),
  courier_links: ({ em }) => purgeCourierLinks(em),
  sign_ins: ({ em }) => purgeSignIns(em),
  mails: ({ em }) => purgeMails(em),
  recipient_notices: ({ em }) => purgeRecipientMails(em),
  usage: ({ em }) => purgeReports(em),
  requests: ({ em }) => purgeRequests(em),
  test_data: ({ em, now }) => purgeTestData(em, now()),
  events: async ({ em, eventRetentionDays: days }) => (days === undefined ? 0 : purgeEvents(em, days)),
} satisfies Readonly<Record<string, Purge>>;

export type Purged = keyof typeof PURGES;
