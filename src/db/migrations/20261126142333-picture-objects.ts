/** Each statement runs in its own transaction, so that pictures can be read while the index is built. */
export const isTransactional = false;

export const statements = [
  `alter table "proof_picture" add column if not exists "object_key" text null, add column if not exists "moves_at" timestamptz(3) not null default now();`,
  `alter table "proof_picture" alter column "content" drop not null;`,
  `create index if not exists "proof_picture_to_move" on "proof_picture" ("moves_at") where content is not null;`,
];
