export const statements = [`alter table "shipment" add "dropoff_zone" text null`];
