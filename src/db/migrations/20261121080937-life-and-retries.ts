import { Migration } from "@mikro-orm/migrations";

export class Migration20261121080937_life_and_retries extends Migration {
  override name = "Migration20261121080937_life_and_retries";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "kept_answer" ("workspace_id" bigint not null, "key" text not null, "method" text not null, "request_digest" text not null, "response" bytea not null, "created_at" timestamptz(3) not null, primary key ("workspace_id", "key"));`,
    );
    this.addSql(`create index "kept_answer_by_age" on "kept_answer" ("created_at");`);

    this.addSql(
      `create table "payment" ("workspace_id" bigint not null, "shipment_reference" text not null, "provider" text not null, "amount_minor" bigint not null, "currency" char(3) not null, "paid_at" timestamptz(3) not null, "refunded_at" timestamptz(3) null, primary key ("workspace_id", "shipment_reference"));`,
    );

    this.addSql(
      `create table "workspace_limit" ("workspace_id" bigint not null, "limit_class" text not null, "rate" int not null, "burst" int not null, primary key ("workspace_id", "limit_class"));`,
    );

    this.addSql(
      `create index "customer_by_email" on "customer" ("workspace_id", "email_lower", "id");`,
    );

    this.addSql(
      `alter table "shipment" add "cancel_reason" text null, add "cancel_note" text null, add "external_reference" text null, add "metadata" jsonb not null default '{}', add "version" int not null default 1;`,
    );
    this.addSql(
      `create index "shipment_by_age" on "shipment" ("workspace_id", "created_at", "reference") where reference <> 'shipment_by_age';`,
    );
    this.addSql(
      `create index "shipment_by_status" on "shipment" ("workspace_id", "status", "created_at", "reference") where reference <> 'shipment_by_status';`,
    );
    this.addSql(
      `create index "shipment_by_payment_status" on "shipment" ("workspace_id", "payment_status", "created_at", "reference") where reference <> 'shipment_by_payment_status';`,
    );
    this.addSql(
      `create index "shipment_by_customer" on "shipment" ("workspace_id", "customer_id", "created_at", "reference") where reference <> 'shipment_by_customer';`,
    );
    this.addSql(
      `create index "shipment_by_customer_and_status" on "shipment" ("workspace_id", "customer_id", "status", "created_at", "reference") where reference <> 'shipment_by_customer_and_status';`,
    );
    this.addSql(
      `create index "shipment_by_customer_and_payment_status" on "shipment" ("workspace_id", "customer_id", "payment_status", "created_at", "reference") where reference <> 'shipment_by_customer_and_payment_status';`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_external_reference" unique ("workspace_id", "external_reference");`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_statuses_agree" check ((status = 'pending' and payment_status in ('awaiting_payment')) or (status = 'awaiting_pickup' and payment_status in ('paid')) or (status = 'in_transit' and payment_status in ('paid')) or (status = 'delivered' and payment_status in ('paid')) or (status = 'cancelled' and payment_status in ('voided', 'refund_pending', 'refunded')));`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_cancel_reason" check (cancel_reason is null or (cancel_reason in ('customer_request', 'booked_in_error', 'goods_unavailable', 'address_problem', 'payment_problem', 'other') and status = 'cancelled'));`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_cancel_note_when_cancelled" check (cancel_note is null or status = 'cancelled');`,
    );

    this.addSql(
      `alter table "kept_answer" add constraint "kept_answer_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "kept_answer" add constraint "kept_answer_key_form" check (key ~ '^[!-~]{1,255}\$');`,
    );

    this.addSql(
      `alter table "payment" add constraint "payment_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_workspace_id_shipment_reference_foreign" foreign key ("workspace_id", "shipment_reference") references "shipment" ("workspace_id", "reference") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_provider" check (provider in ('manual'));`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_amount_positive" check (amount_minor >= 0);`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_currency_form" check (currency ~ '^[A-Z]{3}\$');`,
    );
    this.addSql(
      `alter table "payment" add constraint "payment_refunded_after_paid" check (refunded_at >= paid_at);`,
    );

    this.addSql(
      `alter table "workspace_limit" add constraint "workspace_limit_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "workspace_limit" add constraint "workspace_limit_class" check (limit_class in ('quote', 'read', 'write'));`,
    );
    this.addSql(
      `alter table "workspace_limit" add constraint "workspace_limit_in_range" check (rate >= 1 and rate <= 1000000 and burst >= 1 and burst <= 1000000);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "kept_answer" cascade;`);
    this.addSql(`drop table if exists "payment" cascade;`);
    this.addSql(`drop table if exists "workspace_limit" cascade;`);

    this.addSql(`drop index "customer_by_email";`);

    this.addSql(`drop index "shipment_by_age";`);
    this.addSql(`drop index "shipment_by_status";`);
    this.addSql(`drop index "shipment_by_payment_status";`);
    this.addSql(`drop index "shipment_by_customer";`);
    this.addSql(`drop index "shipment_by_customer_and_status";`);
    this.addSql(`drop index "shipment_by_customer_and_payment_status";`);
    this.addSql(`alter table "shipment" drop constraint "shipment_external_reference";`);
    this.addSql(`alter table "shipment" drop constraint "shipment_statuses_agree";`);
    this.addSql(`alter table "shipment" drop constraint "shipment_cancel_reason";`);
    this.addSql(`alter table "shipment" drop constraint "shipment_cancel_note_when_cancelled";`);
    this.addSql(
      `alter table "shipment" drop column "cancel_reason", drop column "cancel_note", drop column "external_reference", drop column "metadata", drop column "version";`,
    );
  }
}
