/** Each statement is a transaction, so that no lock is held while the next one runs. */
export const isTransactional = false;

export const statements = [
  `create index if not exists "shipment_by_courier" on "shipment" ("workspace_id", (progress #>> '{courier,courierId}'), "status", "payment_status", "created_at", "reference") where progress #>> '{courier,courierId}' is not null and reference <> 'shipment_by_courier'`,
  `create index if not exists "shipment_unassigned" on "shipment" ("workspace_id", "created_at", "reference") where status in ('awaiting_pickup', 'in_transit') and progress #>> '{courier,name}' is null and reference <> 'shipment_unassigned'`,
];
