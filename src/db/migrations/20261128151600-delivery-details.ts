export const statements = [
  `alter table "shipment" add "pickup_contact_name" text null, add "pickup_contact_phone" text null, add "pickup_instructions" text null, add "dropoff_instructions" text null, add "package_count" int not null default 1, add "package_description" text null, add "items" jsonb not null default '[]', add "dropoff_handover" text not null default 'meet', add "if_undeliverable" text not null default 'return', add "recipient_edits" int not null default 0`,
  `alter table "shipment" add constraint "shipment_details" check (package_count between 1 and 100 and dropoff_handover in ('meet', 'leave_at_door') and if_undeliverable in ('return', 'dispose')) not valid`,
];
