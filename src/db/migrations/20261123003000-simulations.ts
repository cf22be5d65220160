import { Migration } from "@mikro-orm/migrations";

export class Migration20261123003000_simulations extends Migration {
  override name = "Migration20261123003000_simulations";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "simulation" ("workspace_id" bigint not null, "shipment_reference" text not null, "scenario" text not null, "step_seconds" int not null, "taken" int not null default 0, "due_at" timestamptz(3) not null, "leased_until" timestamptz(3) null, primary key ("workspace_id", "shipment_reference"));`,
    );
    this.addSql(`create index "simulation_due" on "simulation" ("due_at");`);
    this.addSql(
      `create index "simulation_due_in_twin" on "simulation" ("workspace_id", "due_at", "shipment_reference");`,
    );

    this.addSql(
      `alter table "simulation" add constraint "simulation_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "simulation" add constraint "simulation_scenario" check (scenario in ('deliver', 'late', 'no_courier', 'payment_declined', 'payment_after_cancel', 'refund_failed', 'dispute', 'stuck'));`,
    );
  }
}
