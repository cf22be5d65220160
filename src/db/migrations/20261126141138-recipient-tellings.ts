export const statements = [`alter table "recipient_notice" add "tellings" int not null default 1`];
