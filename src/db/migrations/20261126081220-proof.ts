/** Each statement runs in its own transaction, so that none waits for a lock while holding another. */
export const isTransactional = false;

export const statements = [
  `alter table "shipment" add if not exists "verification" jsonb null;`,
  `drop index if exists "shipment_attempted";`,
  `create index if not exists "shipment_attempted" on "shipment" ("workspace_id", "created_at", "reference") where status in ('awaiting_pickup', 'in_transit') and (jsonb_array_length(progress -> 'attempts') >= 2 or progress ->> 'wrongPins' = '5') and reference <> 'shipment_attempted';`,
  `create table if not exists "proof_picture" ("workspace_id" bigint not null, "shipment_reference" text not null, "kind" text not null, "content" bytea not null, "recorded_at" timestamptz(3) not null, primary key ("workspace_id", "shipment_reference", "kind"), constraint "proof_picture_kind" check (kind in ('photo', 'signature')));`,
  `create index if not exists "proof_picture_by_age" on "proof_picture" ("recorded_at");`,
  `alter table "proof_picture" drop constraint if exists "proof_picture_workspace_id_foreign", add constraint "proof_picture_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
  `alter table "proof_picture" drop constraint if exists "proof_picture_workspace_id_shipment_reference_foreign", add constraint "proof_picture_workspace_id_shipment_reference_foreign" foreign key ("workspace_id", "shipment_reference") references "shipment" ("workspace_id", "reference") on update no action on delete cascade;`,
];
