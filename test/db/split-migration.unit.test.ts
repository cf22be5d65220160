import { expect, test } from "vitest";
import { splitMigration } from "../../src/db/split-migration.ts";

test("a column and an index of one table become two migrations", () => {
  const change = [
    'alter table "shipment" add "colour" text null;',
    "",
    'create index "shipment_colour" on "shipment" ("colour");',
  ];
  expect(splitMigration(change)).toEqual([
    { transactional: true, statements: ['alter table "shipment" add "colour" text null'] },
    {
      transactional: false,
      statements: ['create index if not exists "shipment_colour" on "shipment" ("colour")'],
    },
  ]);
});

test("a new table is created in one transaction with its indexes and constraints", () => {
  const change = [
    'create table "parcel" ("workspace_id" bigint not null);',
    'create index "parcel_workspace" on "parcel" ("workspace_id");',
    'alter table "parcel" add constraint "parcel_foreign" foreign key ("workspace_id") references "workspace" ("id");',
  ];
  expect(splitMigration(change)).toEqual([{ transactional: true, statements: change.map((sql) => sql.slice(0, -1)) }]);
});

test("a constraint of an existing table is validated outside the transaction that adds it", () => {
  const check = 'alter table "shipment" add constraint "shipment_colour" check (colour <> \'\')';
  expect(splitMigration([check, 'alter table "customer" add "colour" text null'])).toEqual([
    { transactional: true, statements: [`${check} not valid`] },
    { transactional: true, statements: ['alter table "customer" add "colour" text null'] },
    {
      transactional: false,
      statements: ['alter table "shipment" validate constraint "shipment_colour"'],
    },
  ]);
});

test("an index that changes is dropped and built again", () => {
  const change = ['drop index "event_feed";', 'create unique index "event_feed" on "event" ("position");'];
  expect(splitMigration(change)).toEqual([
    {
      transactional: false,
      statements: [
        'drop index if exists "event_feed"',
        'create unique index if not exists "event_feed" on "event" ("position")',
      ],
    },
  ]);
});

test("no change is no migration", () => {
  expect(splitMigration([""])).toEqual([]);
});
