export const statements = [`alter table "booking_day" add "grouped_hours" jsonb not null default '[]'`];
