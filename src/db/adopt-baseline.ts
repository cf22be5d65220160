/** Upgrades a database with all migrations that the baseline replaced (`REPLACED`) to the baseline's schema. */
export const statements = [
  "drop function if exists event_take_position_fn() cascade",
  "alter table event drop column transaction",
  "alter table api_key alter column id drop default",
  "delete from applied_migration",
];
