/** A migration without code. */
export interface SqlMigration {
  readonly statements: readonly string[];
  /** Whether all statements run in one transaction. If false, each is a transaction of its own. Default true. */
  readonly isTransactional?: boolean;
}

/** The first migration, which creates the schema of the first release. */
export const BASELINE = "20261123230000-baseline";

/**
 * All migrations, oldest first, by file name, which is also the name in `applied_migration`. The list is
 * explicit because a built program has no folder to read.
 */
export const MIGRATIONS: Readonly<Record<string, () => Promise<SqlMigration>>> = {
  [BASELINE]: () => import("./migrations/20261123230000-baseline.ts"),
  "20261124134553-words": () => import("./migrations/20261124134553-words.ts"),
  "20261124180015-tracking": () => import("./migrations/20261124180015-tracking.ts"),
  "20261124181446-requests": () => import("./migrations/20261124181446-requests.ts"),
  "20261125235036-shared-filters": () => import("./migrations/20261125235036-shared-filters.ts"),
  "20261126000300-progress": () => import("./migrations/20261126000300-progress.ts"),
  "20261126001938-previews": () => import("./migrations/20261126001938-previews.ts"),
  "20261126081220-proof": () => import("./migrations/20261126081220-proof.ts"),
  "20261126081658-recipient-notices": () => import("./migrations/20261126081658-recipient-notices.ts"),
  "20261126090500-recipient-words": () => import("./migrations/20261126090500-recipient-words.ts"),
  "20261126091500-tracking-logo": () => import("./migrations/20261126091500-tracking-logo.ts"),
  "20261126091600-courier-places": () => import("./migrations/20261126091600-courier-places.ts"),
  "20261126141138-recipient-tellings": () => import("./migrations/20261126141138-recipient-tellings.ts"),
  "20261126142333-picture-objects": () => import("./migrations/20261126142333-picture-objects.ts"),
  "20261126213000-assert-shards": () => import("./migrations/20261126213000-assert-shards.ts"),
  "20261128055600-search-slots": () => import("./migrations/20261128055600-search-slots.ts"),
  "20261128060000-late-after": () => import("./migrations/20261128060000-late-after.ts"),
  "20261128063700-request-paths": () => import("./migrations/20261128063700-request-paths.ts"),
  "20261128064600-event-api-key": () => import("./migrations/20261128064600-event-api-key.ts"),
  "20261128064700-audit-entry-api-key": () => import("./migrations/20261128064700-audit-entry-api-key.ts"),
  "20261128073000-opt-out-secret": () => import("./migrations/20261128073000-opt-out-secret.ts"),
  "20261128073500-membership-name": () => import("./migrations/20261128073500-membership-name.ts"),
  "20261128073600-person-name": () => import("./migrations/20261128073600-person-name.ts"),
  "20261128073700-shown-names": () => import("./migrations/20261128073700-shown-names.ts"),
  "20261128144543-couriers": () => import("./migrations/20261128144543-couriers.ts"),
  "20261128151600-delivery-details": () => import("./migrations/20261128151600-delivery-details.ts"),
  "20261128151601-delivery-details-2": () => import("./migrations/20261128151601-delivery-details-2.ts"),
  "20261128153000-shipment-couriers": () => import("./migrations/20261128153000-shipment-couriers.ts"),
  "20261128154756-courier-links": () => import("./migrations/20261128154756-courier-links.ts"),
  "20261128154757-courier-links-2": () => import("./migrations/20261128154757-courier-links-2.ts"),
  "20261128154758-courier-links-3": () => import("./migrations/20261128154758-courier-links-3.ts"),
  "20261128154759-courier-links-4": () => import("./migrations/20261128154759-courier-links-4.ts"),
  "20261128154760-courier-links-5": () => import("./migrations/20261128154760-courier-links-5.ts"),
  "20261128163000-search-weeks": () => import("./migrations/20261128163000-search-weeks.ts"),
  "20261128183854-event-courier": () => import("./migrations/20261128183854-event-courier.ts"),
  "20261128184840-courier-settings": () => import("./migrations/20261128184840-courier-settings.ts"),
  "20261128190112-slots": () => import("./migrations/20261128190112-slots.ts"),
  "20261128190332-one-attempt": () => import("./migrations/20261128190332-one-attempt.ts"),
  "20261128212929-courier-emails": () => import("./migrations/20261128212929-courier-emails.ts"),
  "20261128212930-courier-emails-2": () => import("./migrations/20261128212930-courier-emails-2.ts"),
  "20261128212931-courier-emails-3": () => import("./migrations/20261128212931-courier-emails-3.ts"),
  "20261128213001-delivery-reports": () => import("./migrations/20261128213001-delivery-reports.ts"),
  "20261128213002-delivery-reports-2": () => import("./migrations/20261128213002-delivery-reports-2.ts"),
  "20261128223521-grouped-hours": () => import("./migrations/20261128223521-grouped-hours.ts"),
  "20261129011146-customer-figures": () => import("./migrations/20261129011146-customer-figures.ts"),
  "20261129011147-customer-figures-2": () => import("./migrations/20261129011147-customer-figures-2.ts"),
};
