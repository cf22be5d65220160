/** A test file, or a single test, that does not run on a distributed database. */
interface LeftOut {
  readonly file: string;
  /** Title of the test. If omitted, all tests of the file are left out. */
  readonly test?: string;
  readonly because: string;
}

const OLD_RELEASE = "a replica of the release before cannot run on a distributed database";

/** All tests of the service that do not run on a distributed database. */
export const LEFT_OUT: readonly LeftOut[] = [
  {
    file: "test/db/migrations.test.ts",
    because: "it makes the schema anew, without the extension, and shards' constraints end in a number",
  },
  {
    file: "test/db/group-commit.test.ts",
    because: "its tables are the coordinator's alone, and groups go to the nodes of workspaces",
  },
  {
    file: "test/db/migrate-while-serving.test.ts",
    test: "a migration gives up a table that is locked, so that calls do not wait behind it, and is made when it is tried again",
    because: "it goes back to a migration from before the database was distributed",
  },
  {
    file: "test/features/events/events.test.ts",
    test: "an event that commits late is not skipped by a cursor returned before",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "two replicas that write to one workspace leave no gap, nor do calls that are refused and transactions that are rolled back, and no reader sees one",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "a workspace that the release before has made, without a feed, has one from its first event on",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "a stream sends an event that nobody has announced",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "a page of some types ends after a bounded number of others, and its cursor is past them",
    because: "it looks at the plan of one server",
  },
  {
    file: "test/features/shipments/cancel-shipment.test.ts",
    test: "of concurrent cancels exactly one wins",
    because: "it looks at the locks of one server",
  },
  {
    file: "test/features/shipments/create-shipment-group.test.ts",
    test: "a booking between whose look and write one webhook after the other is deleted is made once",
    because: "it refuses rows by a trigger, which shards do not have",
  },
  {
    file: "test/features/shipments/create-shipment-group.test.ts",
    test: "bookings whose commit was not acknowledged are not repeated",
    because: "it slows commits down by a trigger, which shards do not have",
  },
  {
    file: "test/server/reads.test.ts",
    because: "it has every statement explained, which inserts from a select of other tables cannot be",
  },
  {
    file: "test/server/hostile-settings.test.ts",
    test: "times and numbers are read as they were written",
    because: "the coordinator opens connections to nodes with the settings of their database",
  },
];

export const LEFT_OUT_FILES = LEFT_OUT.filter(({ test }) => test === undefined).map(({ file }) => file);
