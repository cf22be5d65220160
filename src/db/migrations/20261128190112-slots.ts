export const statements = [
  `create table "slot" ("id" text not null, "twin_id" bigint null, "schedule" text not null, "starts_at" timestamptz(3) not null, "ends_at" timestamptz(3) not null, "shipments" int not null default 0, "milligrams" bigint not null default '0', "capacity" int null, primary key ("id"))`,
  `create index "slot_by_twin" on "slot" ("twin_id")`,
  `create index "slot_by_start" on "slot" ("starts_at")`,
  `create table "slot_reservation" ("slot_id" text not null, "holder" text not null, "workspace_id" bigint not null, "reference" text null, "milligrams" bigint not null, "attempt" uuid not null, "pay_by" timestamptz(3) null, "check_at" timestamptz(3) null, primary key ("slot_id", "holder"))`,
  `create index "slot_reservation_by_holder" on "slot_reservation" ("holder")`,
  `create index "slot_reservation_to_check" on "slot_reservation" ("check_at")`,
  `alter table "slot" add constraint "slot_count_not_negative" check (shipments >= 0 and milligrams >= 0)`,
  `alter table "slot" add constraint "slot_capacity_not_negative" check (capacity >= 0)`,
  `alter table "slot_reservation" add constraint "slot_reservation_slot_id_foreign" foreign key ("slot_id") references "slot" ("id") on update no action on delete cascade`,
];
