import { Migration } from "@mikro-orm/migrations";

export class Migration20261121064638_create_tables extends Migration {
  override name = "Migration20261121064638_create_tables";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "tariff_version" ("version" int not null, "document" json not null, "digest" text not null, "note" text null, "published_at" timestamptz(3) not null, primary key ("version"));`,
    );

    this.addSql(
      `create table "workspace" ("id" bigserial primary key, "name" text not null, "created_at" timestamptz(3) not null);`,
    );

    this.addSql(
      `create table "payment_connection" ("workspace_id" bigint not null, "provider" text not null, "connected_at" timestamptz(3) not null, primary key ("workspace_id"));`,
    );

    this.addSql(
      `create table "customer" ("workspace_id" bigint not null, "id" bigserial not null, "name" text not null, "email" text not null, "email_lower" text not null, "id_number" text null, "created_at" timestamptz(3) not null, primary key ("workspace_id", "id"));`,
    );
    this.addSql(
      `alter table "customer" add constraint "customer_once" unique ("workspace_id", "name", "email_lower");`,
    );

    this.addSql(
      `create table "shipment" ("workspace_id" bigint not null, "reference" text not null, "status" text not null, "payment_status" text not null, "created_by" text null, "customer_id" bigint not null, "pickup_address" text not null, "pickup_lat" double precision not null, "pickup_lng" double precision not null, "dropoff_address" text not null, "dropoff_lat" double precision not null, "dropoff_lng" double precision not null, "weight_kg" double precision not null, "distance_km" double precision not null, "distance_fee_minor" bigint not null, "weight_fee_minor" bigint not null, "base_fee_minor" bigint not null, "subtotal_minor" bigint not null, "total_minor" bigint not null, "currency" char(3) not null, "tariff_version" int not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "cancelled_at" timestamptz(3) null, primary key ("workspace_id", "reference"));`,
    );

    this.addSql(
      `create table "api_key" ("hash" text not null, "workspace_id" bigint not null, "last4" char(4) not null, "created_at" timestamptz(3) not null, "ends_at" timestamptz(3) null, "changed_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`create index "api_key_of_workspace" on "api_key" ("workspace_id");`);
    this.addSql(`create index "api_key_by_end" on "api_key" ("ends_at");`);
    this.addSql(`create index "api_key_by_change" on "api_key" ("changed_at");`);

    this.addSql(
      `alter table "tariff_version" add constraint "tariff_version_counts_from_one" check (version >= 1);`,
    );

    this.addSql(
      `alter table "workspace" add constraint "workspace_name_given" check (name <> '');`,
    );

    this.addSql(
      `alter table "payment_connection" add constraint "payment_connection_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "payment_connection" add constraint "payment_connection_provider" check (provider in ('manual'));`,
    );

    this.addSql(
      `alter table "customer" add constraint "customer_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(`alter table "customer" add constraint "customer_name_given" check (name <> '');`);
    this.addSql(
      `alter table "customer" add constraint "customer_email_lower" check (email_lower = lower(email) and email <> '');`,
    );

    this.addSql(
      `alter table "shipment" add constraint "shipment_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_workspace_id_customer_id_foreign" foreign key ("workspace_id", "customer_id") references "customer" ("workspace_id", "id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_tariff_version_foreign" foreign key ("tariff_version") references "tariff_version" ("version");`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_reference_form" check (reference ~ '^SHP-[0-9A-HJKMNP-TV-Z]{12}\$');`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_status" check (status in ('pending', 'awaiting_pickup', 'in_transit', 'delivered', 'cancelled'));`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_payment_status" check (payment_status in ('awaiting_payment', 'paid', 'refund_pending', 'refunded', 'voided'));`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_cancelled_when_cancelled" check ((status = 'cancelled') = (cancelled_at is not null));`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_pickup_in_range" check (pickup_lat between -90 and 90 and pickup_lng between -180 and 180);`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_dropoff_in_range" check (dropoff_lat between -90 and 90 and dropoff_lng between -180 and 180);`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_weight" check (weight_kg >= 0.01 and weight_kg < 'infinity');`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_distance" check (distance_km between 0 and 20016);`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_currency_form" check (currency ~ '^[A-Z]{3}\$');`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_amounts_positive" check (distance_fee_minor >= 0 and weight_fee_minor >= 0 and base_fee_minor >= 0 and subtotal_minor >= 0 and total_minor >= 0);`,
    );
    this.addSql(
      `alter table "shipment" add constraint "shipment_amounts_add_up" check (subtotal_minor = distance_fee_minor + weight_fee_minor and total_minor = greatest(subtotal_minor, base_fee_minor));`,
    );

    this.addSql(
      `alter table "api_key" add constraint "api_key_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_hash_form" check (hash ~ '^[A-Za-z0-9_-]{43}\$');`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "shipment" drop constraint "shipment_tariff_version_foreign";`);
    this.addSql(
      `alter table "payment_connection" drop constraint "payment_connection_workspace_id_foreign";`,
    );
    this.addSql(`alter table "customer" drop constraint "customer_workspace_id_foreign";`);
    this.addSql(`alter table "shipment" drop constraint "shipment_workspace_id_foreign";`);
    this.addSql(`alter table "api_key" drop constraint "api_key_workspace_id_foreign";`);
    this.addSql(
      `alter table "shipment" drop constraint "shipment_workspace_id_customer_id_foreign";`,
    );

    this.addSql(`drop table if exists "tariff_version" cascade;`);
    this.addSql(`drop table if exists "workspace" cascade;`);
    this.addSql(`drop table if exists "payment_connection" cascade;`);
    this.addSql(`drop table if exists "customer" cascade;`);
    this.addSql(`drop table if exists "shipment" cascade;`);
    this.addSql(`drop table if exists "api_key" cascade;`);
  }
}
