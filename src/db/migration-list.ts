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
  "20261122164211-feeds": async () =>
    (await import("./migrations/20261122164211-feeds.ts")).Migration20261122164211_feeds,
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
  "20261122200019-quote-keys": async () =>
    (await import("./migrations/20261122200019-quote-keys.ts")).Migration20261122200019_quote_keys,
  "20261122200344-test-payments": async () =>
    (await import("./migrations/20261122200344-test-payments.ts"))
      .Migration20261122200344_test_payments,
  "20261122200345-test-twins": async () =>
    (await import("./migrations/20261122200345-test-twins.ts")).Migration20261122200345_test_twins,
  "20261122201448-tariffs-honour-quotes": async () =>
    (await import("./migrations/20261122201448-tariffs-honour-quotes.ts"))
      .Migration20261122201448_tariffs_honour_quotes,
  "20261122201449-honour-quotes": async () =>
    (await import("./migrations/20261122201449-honour-quotes.ts"))
      .Migration20261122201449_honour_quotes,
  "20261122201450-quote-of-shipment": async () =>
    (await import("./migrations/20261122201450-quote-of-shipment.ts"))
      .Migration20261122201450_quote_of_shipment,
  "20261122204929-mails": async () =>
    (await import("./migrations/20261122204929-mails.ts")).Migration20261122204929_mails,
  "20261122205500-shipment-windows": async () =>
    (await import("./migrations/20261122205500-shipment-windows.ts"))
      .Migration20261122205500_shipment_windows,
  "20261122211541-search-shipments": async () =>
    (await import("./migrations/20261122211541-search-shipments.ts"))
      .Migration20261122211541_search_shipments,
  "20261122212055-provider-payments": async () =>
    (await import("./migrations/20261122212055-provider-payments.ts"))
      .Migration20261122212055_provider_payments,
  "20261122212056-provider-connections": async () =>
    (await import("./migrations/20261122212056-provider-connections.ts"))
      .Migration20261122212056_provider_connections,
  "20261122233833-test-clocks": async () =>
    (await import("./migrations/20261122233833-test-clocks.ts"))
      .Migration20261122233833_test_clocks,
  "20261122235500-simulated-failures": async () =>
    (await import("./migrations/20261122235500-simulated-failures.ts"))
      .Migration20261122235500_simulated_failures,
  "20261122235700-hear-events": async () =>
    (await import("./migrations/20261122235700-hear-events.ts"))
      .Migration20261122235700_hear_events,
  "20261123003000-simulations": async () =>
    (await import("./migrations/20261123003000-simulations.ts"))
      .Migration20261123003000_simulations,
  "20261123003001-simulations-of-shipments": async () =>
    (await import("./migrations/20261123003001-simulations-of-shipments.ts"))
      .Migration20261123003001_simulations_of_shipments,
  "20261123021628-sort-and-count-shipments": async () =>
    (await import("./migrations/20261123021628-sort-and-count-shipments.ts"))
      .Migration20261123021628_sort_and_count_shipments,
  "20261123022051-simulation-tries": async () =>
    (await import("./migrations/20261123022051-simulation-tries.ts"))
      .Migration20261123022051_simulation_tries,
  "20261123031600-customer-records": async () =>
    (await import("./migrations/20261123031600-customer-records.ts"))
      .Migration20261123031600_customer_records,
  "20261123033200-saved-filters": async () =>
    (await import("./migrations/20261123033200-saved-filters.ts"))
      .Migration20261123033200_saved_filters,
  "20261123033201-saved-filters-of-people": async () =>
    (await import("./migrations/20261123033201-saved-filters-of-people.ts"))
      .Migration20261123033201_saved_filters_of_people,
  "20261123033300-time-zones": async () =>
    (await import("./migrations/20261123033300-time-zones.ts")).Migration20261123033300_time_zones,
  "20261123033301-usage-quarters": async () =>
    (await import("./migrations/20261123033301-usage-quarters.ts"))
      .Migration20261123033301_usage_quarters,
  "20261123034000-customer-aliases": async () =>
    (await import("./migrations/20261123034000-customer-aliases.ts"))
      .Migration20261123034000_customer_aliases,
  "20261123034001-aliases-of-customers": async () =>
    (await import("./migrations/20261123034001-aliases-of-customers.ts"))
      .Migration20261123034001_aliases_of_customers,
  "20261123034500-payments-of-test-mode": async () =>
    (await import("./migrations/20261123034500-payments-of-test-mode.ts"))
      .Migration20261123034500_payments_of_test_mode,
  "20261123054729-fewer-indexes": async () =>
    (await import("./migrations/20261123054729-fewer-indexes.ts"))
      .Migration20261123054729_fewer_indexes,
  "20261123060129-attention-of-platform": async () =>
    (await import("./migrations/20261123060129-attention-of-platform.ts"))
      .Migration20261123060129_attention_of_platform,
  "20261123185603-installations": async () =>
    (await import("./migrations/20261123185603-installations.ts"))
      .Migration20261123185603_installations,
  "20261123190146-told-payments": async () =>
    (await import("./migrations/20261123190146-told-payments.ts"))
      .Migration20261123190146_told_payments,
  "20261123190251-uncounted-payments": async () =>
    (await import("./migrations/20261123190251-uncounted-payments.ts"))
      .Migration20261123190251_uncounted_payments,
  "20261123191634-manual-replaced": async () =>
    (await import("./migrations/20261123191634-manual-replaced.ts"))
      .Migration20261123191634_manual_replaced,
  "20261123193631-hours-of-booking-days": async () =>
    (await import("./migrations/20261123193631-hours-of-booking-days.ts"))
      .Migration20261123193631_hours_of_booking_days,
  "20261123205500-partly-disputed": async () =>
    (await import("./migrations/20261123205500-partly-disputed.ts"))
      .Migration20261123205500_partly_disputed,
};
