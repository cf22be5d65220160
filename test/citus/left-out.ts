/** A test file or a single test that is skipped on a distributed database. */
interface SkippedTest {
  readonly file: string;
  /** Title of the test. If omitted, all tests of the file are skipped. */
  readonly test?: string;
  readonly because: string;
}

const OLD_RELEASE = "a replica of the previous release cannot run on a distributed database";

/** All tests that are skipped on a distributed database. */
export const LEFT_OUT: readonly SkippedTest[] = [
  {
    file: "test/db/migrations.test.ts",
    because: "it recreates the schema without the extension, and names of shards' constraints end in a number",
  },
  {
    file: "test/db/group-commit.test.ts",
    because: "its tables exist only on the coordinator, and groups run on the nodes of workspaces",
  },
  {
    file: "test/db/migrate-while-serving.test.ts",
    test: "a migration fails when a table is locked, so that calls do not wait behind it, and can be retried",
    because: "it reverts to a migration from before the database was distributed",
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
    because: "it checks the plan of one server",
  },
  {
    file: "test/features/shipments/cancel-shipment.test.ts",
    test: "of concurrent cancels exactly one wins",
    because: "it checks the locks of one server",
  },
  {
    file: "test/features/shipments/create-shipment-group.test.ts",
    test: "a booking between whose look and write one webhook after the other is deleted is made once",
    because: "it refuses rows with a trigger, which shards do not have",
  },
  {
    file: "test/features/shipments/create-shipment-group.test.ts",
    test: "bookings whose commit was not acknowledged are not repeated",
    because: "it delays commits with a trigger, which shards do not have",
  },
  {
    file: "test/server/reads.test.ts",
    because: "it explains every statement, which is impossible for inserts that select from other tables",
  },
  {
    file: "test/server/hostile-settings.test.ts",
    test: "times and numbers are read as written",
    because: "the coordinator opens connections to nodes with the settings of their database",
  },
];

export const LEFT_OUT_FILES = LEFT_OUT.filter(({ test }) => test === undefined).map(({ file }) => file);
