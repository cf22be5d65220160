import type { Migration } from "@mikro-orm/migrations";
import type { Constructor } from "@mikro-orm/postgresql";

/** The first migration, which creates the schema of the first release. */
export const BASELINE = "20261123230000-baseline";

/**
 * All migrations, oldest first, by file name, which is also the name in `applied_migration`. The list is
 * explicit because a built program has no folder to read. A migration is loaded only when it is applied.
 */
export const MIGRATIONS: Readonly<Record<string, () => Promise<Constructor<Migration>>>> = {
  [BASELINE]: async () => (await import("./migrations/20261123230000-baseline.ts")).Baseline,
  "20261124134553-words": async () =>
    (await import("./migrations/20261124134553-words.ts")).Migration20261124134553_words,
  "20261124180015-tracking": async () =>
    (await import("./migrations/20261124180015-tracking.ts")).Migration20261124180015_tracking,
  "20261124181446-requests": async () =>
    (await import("./migrations/20261124181446-requests.ts")).Migration20261124181446_requests,
  "20261125235036-shared-filters": async () =>
    (await import("./migrations/20261125235036-shared-filters.ts")).Migration20261125235036_shared_filters,
  "20261126000300-progress": async () =>
    (await import("./migrations/20261126000300-progress.ts")).Migration20261126000300_progress,
  "20261126001938-previews": async () =>
    (await import("./migrations/20261126001938-previews.ts")).Migration20261126001938_previews,
  "20261126081220-proof": async () =>
    (await import("./migrations/20261126081220-proof.ts")).Migration20261126081220_proof,
  "20261126081658-recipient-notices": async () =>
    (await import("./migrations/20261126081658-recipient-notices.ts")).Migration20261126081658_recipient_notices,
  "20261126090500-recipient-words": async () =>
    (await import("./migrations/20261126090500-recipient-words.ts")).Migration20261126090500_recipient_words,
  "20261126091500-tracking-logo": async () =>
    (await import("./migrations/20261126091500-tracking-logo.ts")).Migration20261126091500_tracking_logo,
  "20261126091600-courier-places": async () =>
    (await import("./migrations/20261126091600-courier-places.ts")).Migration20261126091600_courier_places,
  "20261126141138-recipient-tellings": async () =>
    (await import("./migrations/20261126141138-recipient-tellings.ts")).Migration20261126141138_recipient_tellings,
  "20261126142333-picture-objects": async () =>
    (await import("./migrations/20261126142333-picture-objects.ts")).Migration20261126142333_picture_objects,
  "20261126213000-assert-shards": async () =>
    (await import("./migrations/20261126213000-assert-shards.ts")).Migration20261126213000_assert_shards,
  "20261128055600-search-slots": async () =>
    (await import("./migrations/20261128055600-search-slots.ts")).Migration20261128055600_search_slots,
  "20261128060000-late-after": async () =>
    (await import("./migrations/20261128060000-late-after.ts")).Migration20261128060000_late_after,
  "20261128063700-request-paths": async () =>
    (await import("./migrations/20261128063700-request-paths.ts")).Migration20261128063700_request_paths,
  "20261128064600-event-api-key": async () =>
    (await import("./migrations/20261128064600-event-api-key.ts")).Migration20261128064600_event_api_key,
  "20261128064700-audit-entry-api-key": async () =>
    (await import("./migrations/20261128064700-audit-entry-api-key.ts")).Migration20261128064700_audit_entry_api_key,
  "20261128073000-opt-out-secret": async () =>
    (await import("./migrations/20261128073000-opt-out-secret.ts")).Migration20261128073000_opt_out_secret,
  "20261128073500-membership-name": async () =>
    (await import("./migrations/20261128073500-membership-name.ts")).Migration20261128073500_membership_name,
  "20261128073600-person-name": async () =>
    (await import("./migrations/20261128073600-person-name.ts")).Migration20261128073600_person_name,
  "20261128073700-shown-names": async () =>
    (await import("./migrations/20261128073700-shown-names.ts")).Migration20261128073700_shown_names,
  "20261128144543-couriers": async () =>
    (await import("./migrations/20261128144543-couriers.ts")).Migration20261128144543_couriers,
  "20261128151600-delivery-details": async () =>
    (await import("./migrations/20261128151600-delivery-details.ts")).Migration20261128151600_delivery_details,
  "20261128151601-delivery-details-2": async () =>
    (await import("./migrations/20261128151601-delivery-details-2.ts")).Migration20261128151601_delivery_details_2,
  "20261128153000-shipment-couriers": async () =>
    (await import("./migrations/20261128153000-shipment-couriers.ts")).Migration20261128153000_shipment_couriers,
  "20261128154756-courier-links": async () =>
    (await import("./migrations/20261128154756-courier-links.ts")).Migration20261128154756_courier_links,
  "20261128154757-courier-links-2": async () =>
    (await import("./migrations/20261128154757-courier-links-2.ts")).Migration20261128154757_courier_links_2,
  "20261128154758-courier-links-3": async () =>
    (await import("./migrations/20261128154758-courier-links-3.ts")).Migration20261128154758_courier_links_3,
  "20261128154759-courier-links-4": async () =>
    (await import("./migrations/20261128154759-courier-links-4.ts")).Migration20261128154759_courier_links_4,
  "20261128154760-courier-links-5": async () =>
    (await import("./migrations/20261128154760-courier-links-5.ts")).Migration20261128154760_courier_links_5,
  "20261128163000-search-weeks": async () =>
    (await import("./migrations/20261128163000-search-weeks.ts")).Migration20261128163000_search_weeks,
  "20261128183854-event-courier": async () =>
    (await import("./migrations/20261128183854-event-courier.ts")).Migration20261128183854_event_courier,
  "20261128184840-courier-settings": async () =>
    (await import("./migrations/20261128184840-courier-settings.ts")).Migration20261128184840_courier_settings,
  "20261128190112-slots": async () =>
    (await import("./migrations/20261128190112-slots.ts")).Migration20261128190112_slots,
  "20261128190332-one-attempt": async () =>
    (await import("./migrations/20261128190332-one-attempt.ts")).Migration20261128190332_one_attempt,
  "20261128212929-courier-emails": async () =>
    (await import("./migrations/20261128212929-courier-emails.ts")).Migration20261128212929_courier_emails,
  "20261128212930-courier-emails-2": async () =>
    (await import("./migrations/20261128212930-courier-emails-2.ts")).Migration20261128212930_courier_emails_2,
  "20261128212931-courier-emails-3": async () =>
    (await import("./migrations/20261128212931-courier-emails-3.ts")).Migration20261128212931_courier_emails_3,
  "20261128213001-delivery-reports": async () =>
    (await import("./migrations/20261128213001-delivery-reports.ts")).Migration20261128213001_delivery_reports,
  "20261128213002-delivery-reports-2": async () =>
    (await import("./migrations/20261128213002-delivery-reports-2.ts")).Migration20261128213002_delivery_reports_2,
  "20261128223521-grouped-hours": async () =>
    (await import("./migrations/20261128223521-grouped-hours.ts")).Migration20261128223521_grouped_hours,
  "20261129011146-customer-figures": async () =>
    (await import("./migrations/20261129011146-customer-figures.ts")).Migration20261129011146_customer_figures,
  "20261129011147-customer-figures-2": async () =>
    (await import("./migrations/20261129011147-customer-figures-2.ts")).Migration20261129011147_customer_figures_2,
};
