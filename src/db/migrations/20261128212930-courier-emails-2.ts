export const statements = [
  `alter table "courier_link" add "state" text null, add "next_attempt_at" timestamptz(3) null, add "attempts" int not null default 0`,
  `alter table "courier_link" add constraint "courier_link_state" check (state in ('waiting', 'sent', 'failed')) not valid`,
];
