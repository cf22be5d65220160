import { Migration } from "@mikro-orm/migrations";

/**
 * Not in a transaction: tables are locked one by one, since calls lock them in another order, and nobody waits
 * while they are read. Can be repeated.
 */
export class Migration20261122212056_provider_connections extends Migration {
  override name = "Migration20261122212056_provider_connections";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`alter table "payment_connection"
      add column if not exists "state" text not null default 'ready',
      add column if not exists "account" text null,
      add column if not exists "live" boolean null,
      add column if not exists "own_key" text null,
      add column if not exists "notice_secrets" text null,
      add column if not exists "missing" jsonb not null default '[]',
      add column if not exists "checked_at" timestamptz(3) null,
      add column if not exists "check_at" timestamptz(3) null,
      add column if not exists "heard_until" timestamptz(3) null;`);
    this.addSql(`alter table "payment_connection"
      drop constraint if exists "payment_connection_state",
      add constraint "payment_connection_state" check (state in ('onboarding', 'ready', 'restricted', 'revoked')) not valid;`);
    this.addSql(`alter table "payment_connection" validate constraint "payment_connection_state";`);
    this.addSql(
      `create index if not exists "payment_connection_account" on "payment_connection" ("account");`,
    );
    this.addSql(
      `create index if not exists "payment_connection_by_check" on "payment_connection" ("check_at");`,
    );

    this.addSql(`alter table "shipment" add column if not exists "payment_details" jsonb null;`);
    this.addSql(
      `alter table "provider_payment" drop constraint if exists "provider_payment_workspace_id_shipment_reference_foreign";`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_workspace_id_shipment_reference_foreign" foreign key ("workspace_id", "shipment_reference") references "shipment" ("workspace_id", "reference") on update no action on delete no action;`,
    );
  }
}
