/** Each statement runs in its own transaction, so that no table is locked while its index is built. */
export const isTransactional = false;

export const statements = [
  `alter table "saved_filter" add if not exists "shared" boolean not null default false`,
  `create index if not exists "saved_filter_shared" on "saved_filter" ("workspace_id", (lower("name"))) where "shared"`,
];
