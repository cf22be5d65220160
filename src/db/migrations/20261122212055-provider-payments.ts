import { Migration } from "@mikro-orm/migrations";

export class Migration20261122212055_provider_payments extends Migration {
  override name = "Migration20261122212055_provider_payments";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "payment_notice" ("provider" text not null, "id" text not null, "type" text not null, "account" text not null, "shipment" text null, "payment" text null, "received_at" timestamptz(3) not null, "due_at" timestamptz(3) null, "attempts" int not null default 0, primary key ("provider", "id"));`,
    );
    this.addSql(
      `create index "payment_notice_due" on "payment_notice" ("due_at") where due_at is not null;`,
    );
    this.addSql(`create index "payment_notice_by_age" on "payment_notice" ("received_at");`);

    this.addSql(
      `create table "provider_payment" ("workspace_id" bigint not null, "shipment_reference" text not null, "provider" text not null, "account" text not null, "version" int not null, "state" text not null, "amount_minor" bigint not null, "currency" char(3) not null, "success_url" text not null, "cancel_url" text not null, "expires_at" timestamptz(3) not null, "checkout" text null, "payment" text null, "refund_attempt" int not null default 1, "refund_refusal" text null, "due_at" timestamptz(3) null, "failures" int not null default 0, "wakes" int not null default 0, "worker" text null, "leased_until" timestamptz(3) null, primary key ("workspace_id", "shipment_reference"));`,
    );
    this.addSql(
      `create index "provider_payment_due" on "provider_payment" ("due_at") where due_at is not null;`,
    );
    this.addSql(
      `create index "provider_payment_open" on "provider_payment" ("workspace_id", "due_at") where due_at is not null or failures > 0;`,
    );
    this.addSql(
      `create index "provider_payment_by_payment" on "provider_payment" ("workspace_id", "payment");`,
    );

    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_provider" check (provider in ('manual', 'stripe'));`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_state" check (state in ('wanted', 'open', 'closed'));`,
    );
    this.addSql(
      `alter table "provider_payment" add constraint "provider_payment_counts" check (version >= 1 and refund_attempt >= 1 and failures >= 0 and amount_minor >= 0);`,
    );
  }
}
