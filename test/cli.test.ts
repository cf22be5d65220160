import { expect, test } from "vitest";
import { runCommand } from "./support/command.ts";

/** A database URL where nothing listens. */
const NO_DATABASE = { DATABASE_URL: "postgres://user:hidden@127.0.0.1:1/none" };

const WRONG = [
  [],
  ["nonsense"],
  ["migrate", "extra"],
  ["serve", "--nonsense"],
  ["tariff", "publish", "--json"],
  ["workspace", "create", "--json"],
  ["workspace", "create", "--name", " "],
  ["payment-provider", "connect", "--workspace", "1", "--provider", "nonsense"],
  ["key", "rotate", "--workspace", "0"],
  ["key", "rotate", "--workspace", "1", "--overlap", "-1"],
  ["key", "rotate", "--workspace", "1", "--overlap", "604801"],
  ["key", "revoke", "--workspace", "1", "--last4", "ab-d"],
];

test.each(WRONG.map((args) => ({ said: args.join(" "), args })))(
  "wrong usage is refused before the database is touched: $said",
  async ({ args }) => {
    const { code, stdout, stderr } = await runCommand(args, NO_DATABASE);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Usage: shipments");
  },
);

test("help exits with 0", async () => {
  const { code, stdout, stderr } = await runCommand(["key", "rotate", "--help"], NO_DATABASE);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("--overlap <seconds>");
});

test("all invalid environment variables are named together", async () => {
  const faulty = { PORT: "http", GRPC_PORT: "65536", LOG_LEVEL: "loud", DATABASE_URL: "mysql://x" };
  const { code, stdout, stderr } = await runCommand(["serve"], faulty);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  for (const name of Object.keys(faulty)) {
    expect(stderr).toMatch(new RegExp(`^${name}: .+$`, "m"));
  }
});

test("an empty environment variable counts as not set", async () => {
  const { stderr } = await runCommand(["migrate"], { ...NO_DATABASE, PORT: "", LOG_LEVEL: " " });
  expect(stderr).not.toMatch(/PORT|LOG_LEVEL/);
});

test("an unreachable database is named in the error, without its password", async () => {
  const { code, stdout, stderr } = await runCommand(["migrate", "--json"], NO_DATABASE);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe("connect ECONNREFUSED 127.0.0.1:1\n");
});

test("a database host of several addresses, none of which answers, is named in the error", async () => {
  const twoAddresses = `
    import dns from "node:dns";
    import { syncBuiltinESMExports } from "node:module";
    const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    dns.lookup = (host, options, done) => done(null, addresses);
    syncBuiltinESMExports();
  `;
  const { code, stderr } = await runCommand(["migrate"], {
    DATABASE_URL: "postgres://database.invalid:1/none",
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(twoAddresses)}`,
  });
  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([
    "connect ECONNREFUSED 127.0.0.1:1",
    "connect ECONNREFUSED 127.0.0.2:1",
  ]);
});
