import type { Migration } from "@mikro-orm/migrations";
import type { Constructor } from "@mikro-orm/postgresql";

/**
 * Every migration, oldest first, under the name that `applied_migration` keeps of it: the name of its
 * file. A list, not what lies in the folder, since a built program has no folder. Each is loaded only
 * to be applied.
 */
export const MIGRATIONS: Readonly<Record<string, () => Promise<Constructor<Migration>>>> = {
  "20261121064638-create-tables": async () =>
    (await import("./migrations/20261121064638-create-tables.ts"))
      .Migration20261121064638_create_tables,
  "20261121080937-life-and-retries": async () =>
    (await import("./migrations/20261121080937-life-and-retries.ts"))
      .Migration20261121080937_life_and_retries,
  "20261121083749-events-and-webhooks": async () =>
    (await import("./migrations/20261121083749-events-and-webhooks.ts"))
      .Migration20261121083749_events_and_webhooks,
  "20261121163452-lease-webhooks": async () =>
    (await import("./migrations/20261121163452-lease-webhooks.ts"))
      .Migration20261121163452_lease_webhooks,
  "20261121182854-admin-api": async () =>
    (await import("./migrations/20261121182854-admin-api.ts")).Migration20261121182854_admin_api,
  "20261121184708-people": async () =>
    (await import("./migrations/20261121184708-people.ts")).Migration20261121184708_people,
  "20261121185159-event-actor": async () =>
    (await import("./migrations/20261121185159-event-actor.ts"))
      .Migration20261121185159_event_actor,
  "20261121185933-reports": async () =>
    (await import("./migrations/20261121185933-reports.ts")).Migration20261121185933_reports,
  "20261121192000-bind-sessions": async () =>
    (await import("./migrations/20261121192000-bind-sessions.ts"))
      .Migration20261121192000_bind_sessions,
  "20261122102221-quoted-bookings": async () =>
    (await import("./migrations/20261122102221-quoted-bookings.ts"))
      .Migration20261122102221_quoted_bookings,
  "20261122102324-end-sign-ins": async () =>
    (await import("./migrations/20261122102324-end-sign-ins.ts"))
      .Migration20261122102324_end_sign_ins,
  "20261122103128-search-customers-by-name": async () =>
    (await import("./migrations/20261122103128-search-customers-by-name.ts"))
      .Migration20261122103128_search_customers_by_name,
  "20261122110000-key-scopes": async () =>
    (await import("./migrations/20261122110000-key-scopes.ts")).Migration20261122110000_key_scopes,
  "20261122164212-feed-positions": async () =>
    (await import("./migrations/20261122164212-feed-positions.ts"))
      .Migration20261122164212_feed_positions,
  "20261122171147-booking-days": async () =>
    (await import("./migrations/20261122171147-booking-days.ts"))
      .Migration20261122171147_booking_days,
  "20261122171500-fill-feed-positions": async () =>
    (await import("./migrations/20261122171500-fill-feed-positions.ts"))
      .Migration20261122171500_fill_feed_positions,
  "20261122171600-require-feed-positions": async () =>
    (await import("./migrations/20261122171600-require-feed-positions.ts"))
      .Migration20261122171600_require_feed_positions,
  "20261122173538-lean-checks": async () =>
    (await import("./migrations/20261122173538-lean-checks.ts"))
      .Migration20261122173538_lean_checks,
  "20261122181500-raise-feed": async () =>
    (await import("./migrations/20261122181500-raise-feed.ts")).Migration20261122181500_raise_feed,
};
