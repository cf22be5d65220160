/** Each statement is a transaction, so that no lock is held while the next one runs. */
export const isTransactional = false;

export const statements = [
  `create index if not exists "courier_link_due" on "courier_link" ("next_attempt_at") where state = 'waiting'`,
  `create index if not exists "courier_link_emailed" on "courier_link" ("workspace_id", "created_at") where state is not null`,
  `alter table "courier_link" validate constraint "courier_link_state"`,
];
