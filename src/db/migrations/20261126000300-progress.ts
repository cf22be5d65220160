/**
 * Adds delivery progress, recipients and the courier scope of API keys. Each statement runs in its own
 * transaction, so that rows can be written while constraints are validated.
 */
export const isTransactional = false;

const CHECKS = [
  [
    "shipment",
    "shipment_statuses_agree",
    "status || ' ' || payment_status in ('pending awaiting_payment', 'awaiting_pickup paid', 'in_transit paid', 'delivered paid', 'returned paid', 'cancelled voided', 'cancelled refund_pending', 'cancelled refunded')",
  ],
  [
    "shipment",
    "shipment_ended_when_ended",
    "(delivered_at is null or status = 'delivered') and (returned_at is null or status = 'returned')",
  ],
  [
    "simulation",
    "simulation_scenario",
    "scenario in ('deliver', 'late', 'no_courier', 'payment_declined', 'payment_after_cancel', 'refund_failed', 'dispute', 'stuck', 'failed_attempt', 'returned')",
  ],
  ["api_key", "api_key_scope", "scope in ('read_only', 'courier', 'full')"],
] as const;

export const statements = [
  `alter table "workspace" add if not exists "tracking_shows_courier" boolean not null default true`,
  `alter table "shipment" add if not exists "delivered_at" timestamptz(3) null,
      add if not exists "returned_at" timestamptz(3) null, add if not exists "progress" jsonb null,
      add if not exists "recipient_name" text null, add if not exists "recipient_phone" text null,
      add if not exists "recipient_email" text null, add if not exists "recipient_locale" text null`,
  `create index if not exists "shipment_attempted" on "shipment" ("workspace_id", "created_at", "reference") where status in ('awaiting_pickup', 'in_transit') and jsonb_array_length(progress -> 'attempts') >= 2 and reference <> 'shipment_attempted'`,
  ...CHECKS.flatMap(([table, name, check]) => [
    `alter table "${table}" drop constraint if exists "${name}",
        add constraint "${name}" check (${check}) not valid`,
    `alter table "${table}" validate constraint "${name}"`,
  ]),
];
