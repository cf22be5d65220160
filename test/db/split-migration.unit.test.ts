import { expect, test } from "vitest";
import { splitMigration } from "../../src/db/split-migration.ts";

test("splits a column and an index of one table into two migrations", () => {
  const change = [
    'alter table "shipment" add "colour" text null;',
    "",
    'create index "shipment_colour" on "shipment" ("colour");',
  ];
  expect(splitMigration(change)).toEqual([
    { statements: ['alter table "shipment" add "colour" text null'] },
    {
      isTransactional: false,
      statements: ['create index if not exists "shipment_colour" on "shipment" ("colour")'],
    },
  ]);
});

test("creates a new table with its indexes and constraints in one transaction", () => {
  const change = [
    'create table "parcel" ("workspace_id" bigint not null);',
    'create index "parcel_workspace" on "parcel" ("workspace_id");',
    'alter table "parcel" add constraint "parcel_foreign" foreign key ("workspace_id") references "workspace" ("id");',
  ];
  expect(splitMigration(change)).toEqual([{ statements: change.map((sql) => sql.slice(0, -1)) }]);
});

test("validates a constraint of an existing table outside the transaction that adds it", () => {
  const check = 'alter table "shipment" add constraint "shipment_colour" check (colour <> \'\')';
  expect(splitMigration([check, 'alter table "customer" add "colour" text null'])).toEqual([
    { statements: [`${check} not valid`] },
    { statements: ['alter table "customer" add "colour" text null'] },
    {
      isTransactional: false,
      statements: ['alter table "shipment" validate constraint "shipment_colour"'],
    },
  ]);
});

test("drops and rebuilds a changed index", () => {
  const change = ['drop index "event_feed";', 'create unique index "event_feed" on "event" ("position");'];
  expect(splitMigration(change)).toEqual([
    {
      isTransactional: false,
      statements: [
        'drop index if exists "event_feed"',
        'create unique index if not exists "event_feed" on "event" ("position")',
      ],
    },
  ]);
});

test("creates no migration without changes", () => {
  expect(splitMigration([""])).toEqual([]);
});
