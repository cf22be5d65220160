/** Each statement runs in its own transaction, so that none waits for a lock while holding another. */
export const isTransactional = false;

export const statements = [
  `create table if not exists "courier_place" ("workspace_id" bigint not null, "shipment_reference" text not null, "lat" double precision not null, "lng" double precision not null, "measured_at" timestamptz(3) not null, primary key ("workspace_id", "shipment_reference"));`,
  `create index if not exists "courier_place_by_age" on "courier_place" ("measured_at");`,
  `alter table "courier_place" drop constraint if exists "courier_place_workspace_id_foreign", add constraint "courier_place_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
  `alter table "courier_place" drop constraint if exists "courier_place_workspace_id_shipment_reference_foreign", add constraint "courier_place_workspace_id_shipment_reference_foreign" foreign key ("workspace_id", "shipment_reference") references "shipment" ("workspace_id", "reference") on update no action on delete cascade;`,
];
