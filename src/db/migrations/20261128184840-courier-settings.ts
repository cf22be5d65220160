export const statements = [
  `alter table "workspace" add "couriers_reorder_stops" boolean not null default false, add "couriers_share_location" boolean not null default true`,
];
