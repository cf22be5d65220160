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
    file: "test/features/customers/sort-customers.test.ts",
    test: "counts customers again after a purge that fails",
    because: "it refuses rows with a trigger, which shards do not have",
  },
  {
    file: "test/features/events/events.test.ts",
    test: "an event that commits late is not skipped by a cursor returned earlier",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "concurrent writes by two replicas, rejected calls and rollbacks leave no gap that a reader could see",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "a stream sends an event that was not announced",
    because: OLD_RELEASE,
  },
  {
    file: "test/features/events/feed.test.ts",
    test: "a page filtered by type ends after a bounded number of other events, and its cursor is behind them",
    because: "it checks the plan of one server",
  },
  {
    file: "test/features/shipments/cancel-shipment.test.ts",
    test: "exactly one of several concurrent cancellations succeeds",
    because: "it checks the locks of one server",
  },
  {
    file: "test/features/shipments/create-shipment-group.test.ts",
    test: "a booking is made once even if webhooks are deleted one after another during its attempts",
    because: "it refuses rows with a trigger, which shards do not have",
  },
  {
    file: "test/features/shipments/create-shipment-group.test.ts",
    test: "bookings without an acknowledged commit are not repeated",
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
