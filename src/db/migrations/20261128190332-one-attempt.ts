/** Each statement is a transaction, so that no lock is held while the next one runs. */
export const isTransactional = false;

export const statements = [
  `drop index if exists "shipment_attempted"`,
  `create index if not exists "shipment_attempted" on "shipment" ("workspace_id", "created_at", "reference") where status in ('awaiting_pickup', 'in_transit') and (jsonb_array_length(progress -> 'attempts') >= 1 or progress ->> 'wrongPins' = '5') and reference <> 'shipment_attempted'`,
];
