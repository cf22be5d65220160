import { userInfo } from "node:os";
import { beforeEach, expect, test } from "vitest";
import { runCommand, runJson, type Environment } from "../support/command.ts";
import { connectTo, createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let environment: Environment;

beforeEach(async () => {
  database = await createDatabase();
  environment = { DATABASE_URL: database.url };
});

const json = (...args: string[]) => runJson(args, environment);
const list = async () => (await json("workspace", "list")).workspaces;
const KEY = /^shp_[0-9A-Za-z]{36}$/;
const refused = (stderr: string) => ({ code: 1, stdout: "", stderr });

test("workspace create prints the first key and stores only its hash", async () => {
  const created = await json("workspace", "create", "--name", " Acme Ltd ");
  expect(created).toEqual({
    workspace: { id: expect.any(Number), name: "Acme Ltd" },
    api_key: expect.stringMatching(KEY),
    test_api_key: expect.stringMatching(/^shp_test_[0-9A-Za-z]{36}$/),
  });

  const client = await connectTo(database.url);
  const { rows } = await client.query("select * from api_key");
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain(created.api_key.slice("shp_".length, -4));
});

test("workspace list shows payment providers and active keys", async () => {
  const first = await json("workspace", "create", "--name", "One", "--payment-provider", "manual");
  const second = await json("workspace", "create", "--name", "Two");
  expect(await list()).toEqual([
    {
      ...first.workspace,
      payment_provider: "manual",
      keys: [{ name: null, last4: first.api_key.slice(-4), scope: "full", ends_at: null }],
    },
    {
      ...second.workspace,
      payment_provider: null,
      keys: [{ name: null, last4: second.api_key.slice(-4), scope: "full", ends_at: null }],
    },
  ]);
});

test("payment-provider connect and disconnect print the workspace's current provider", async () => {
  const { workspace } = await json("workspace", "create", "--name", "Acme");
  const at = ["--workspace", String(workspace.id)];
  const connected = await json("payment-provider", "connect", ...at, "--provider", "manual");
  expect(connected).toEqual({ workspace: workspace.id, payment_provider: "manual" });
  expect(await list()).toMatchObject([{ payment_provider: "manual" }]);
  const disconnected = await json("payment-provider", "disconnect", ...at);
  expect(disconnected).toEqual({ workspace: workspace.id, payment_provider: null });
});

test("payment-provider show reports whether payments are accepted, and the missing requirements", async () => {
  const { workspace } = await json("workspace", "create", "--name", "Acme");
  const at = ["payment-provider", "show", "--workspace", String(workspace.id)];
  const none = {
    payment_provider: null,
    state: "none",
    account: null,
    live: null,
    missing: [],
  };
  expect(await json(...at)).toEqual({ workspace: workspace.id, ...none });
  const client = await connectTo(database.url);
  await client.query(
    `insert into payment_connection
       (workspace_id, provider, connected_at, state, account, live, missing)
     values ($1, 'stripe', now(), 'onboarding', 'acct_1', true, '["external_account"]')`,
    [workspace.id],
  );
  expect(await json(...at)).toEqual({
    workspace: workspace.id,
    payment_provider: "stripe",
    state: "onboarding",
    account: "acct_1",
    live: true,
    missing: ["external_account"],
  });
  expect((await runCommand(at, environment)).stdout).toBe(
    `Workspace ${workspace.id} uses the payment provider stripe: onboarding, account acct_1, live mode.\nMissing details: external_account\n`,
  );
  const { rows } = await client.query("select id::int from workspace where twin_of = $1", [workspace.id]);
  const [{ id: twin }] = rows;
  expect(await json(...at, "--test")).toEqual({
    ...none,
    workspace: twin,
    payment_provider: "test",
    state: "ready",
  });
  await client.query(
    `update payment_connection set provider = 'stripe', account = 'acct_1', live = false
     where workspace_id = $1`,
    [twin],
  );
  expect((await runCommand([...at, "--test"], environment)).stdout).toBe(
    `Workspace ${twin} uses the payment provider stripe: ready, account acct_1, test mode.\n`,
  );
});

test("key rotate prints a new key and expires the others, immediately or after the overlap", async () => {
  const { workspace, api_key: first } = await json("workspace", "create", "--name", "Acme");
  const rotate = (...args: string[]) => json("key", "rotate", "--workspace", String(workspace.id), ...args);

  const { api_key: second, ...nothingElse } = await rotate();
  expect(nothingElse).toEqual({});
  expect(second).toMatch(KEY);
  expect(second).not.toBe(first);
  expect(await list()).toMatchObject([{ keys: [{ last4: second.slice(-4), ends_at: null }] }]);

  const rotatedAt = Date.now();
  const { api_key: third } = await rotate("--overlap", String(7 * 24 * 60 * 60));
  const [{ keys }] = await list();
  expect(keys).toMatchObject([
    { last4: second.slice(-4), ends_at: expect.any(String) },
    { last4: third.slice(-4), ends_at: null },
  ]);
  const overlapDays = (Date.parse(keys[0].ends_at) - rotatedAt) / (24 * 60 * 60 * 1000);
  expect(overlapDays).toBeCloseTo(7, 2);
});

test("key create adds a key with a scope, and key update changes its name and scope", async () => {
  const { workspace } = await json("workspace", "create", "--name", "Acme");
  const at = ["--workspace", String(workspace.id)];
  const made = await json("key", "create", ...at, "--name", "Reports", "--scope", "read_only");
  const last4 = made.api_key.slice(-4);
  const key = {
    id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
    name: "Reports",
    last4,
    scope: "read_only",
  };
  expect(made).toEqual({ key, api_key: expect.stringMatching(KEY) });
  expect((await list())[0].keys[1]).toEqual({
    name: "Reports",
    last4,
    scope: "read_only",
    ends_at: null,
  });
  expect((await runCommand(["workspace", "list"], environment)).stdout).toContain(`...${last4} read-only`);
  const update = ["key", "update", ...at, "--last4", last4];
  expect(await json(...update, "--name", "Shop", "--scope", "full")).toEqual({
    key: { ...key, name: "Shop", scope: "full" },
  });
  expect((await runCommand(update, environment)).stdout).toBe(`Key ...${last4}: Shop, full\n`);
});

test("key revoke revokes the active key with the given last characters, in the given workspace only", async () => {
  const { workspace, api_key: apiKey } = await json("workspace", "create", "--name", "Acme");
  const last4 = apiKey.slice(-4);
  const revoke = ["key", "revoke", "--workspace", String(workspace.id), "--last4", last4];

  expect(await json(...revoke)).toEqual({ revoked: 1 });
  expect(await list()).toMatchObject([{ keys: [] }]);
  expect(await runCommand(revoke, environment)).toEqual(
    refused(`Workspace ${workspace.id} has no active key that ends in ${last4}.\n`),
  );
});

test("workspace rename changes the name and refuses a blank or multi-line one as wrong usage", async () => {
  const { workspace } = await json("workspace", "create", "--name", "Before");
  const rename = ["workspace", "rename", "--workspace", String(workspace.id), "--name"];
  expect(await json(...rename, " After ")).toEqual({ workspace: { ...workspace, name: "After" } });
  expect(await list()).toMatchObject([{ name: "After" }]);
  for (const name of [" ", "Two\nlines", "𝄞".repeat(201)]) {
    expect(await runCommand([...rename, name], environment)).toMatchObject({ code: 2, stdout: "" });
  }
  const clefs = "𝄞".repeat(200);
  expect(await json(...rename, clefs)).toMatchObject({ workspace: { name: clefs } });
});

test("workspace suspend and resume print when the workspace was suspended", async () => {
  const { workspace } = await json("workspace", "create", "--name", "Acme");
  const at = ["--workspace", String(workspace.id)];
  const suspended = await json("workspace", "suspend", ...at);
  expect(suspended).toEqual({ workspace: workspace.id, suspended_at: expect.any(String) });
  expect(await json("workspace", "suspend", ...at)).toEqual(suspended);
  const since = suspended.suspended_at as string;
  const words = async (...args: string[]) => (await runCommand(args, environment)).stdout;
  expect(await words("workspace", "suspend", ...at)).toBe(
    `Workspace ${workspace.id} has been suspended since ${since}.\n`,
  );
  expect(await words("workspace", "list")).toContain(`  suspended since ${since}\n`);
  const resumed = { workspace: workspace.id, suspended_at: null };
  expect(await json("workspace", "resume", ...at)).toEqual(resumed);
  expect(await words("workspace", "resume", ...at)).toBe(`Workspace ${workspace.id} is not suspended.\n`);
});

test("workspace list shows every workspace, oldest first", async () => {
  const client = await connectTo(database.url);
  await client.query(
    `insert into workspace (name, created_at)
     select 'Workspace ' || (1000 - number), now() from generate_series(1, 230) as number`,
  );
  const listed: { id: number }[] = await list();
  expect(listed.map(({ id }) => id)).toEqual(Array.from({ length: 230 }, (_, i) => i + 1));
});

test("the audit log attributes a command's changes to its account at the command line", async () => {
  const { workspace } = await json("workspace", "create", "--name", "Acme");
  const at = ["--workspace", String(workspace.id)];
  const { api_key: apiKey } = await json("key", "rotate", ...at);
  await json("key", "revoke", ...at, "--last4", apiKey.slice(-4));
  await json("payment-provider", "connect", ...at, "--provider", "manual");
  await json("limits", "set", ...at, "--class", "read", "--rate", "7");
  await json("workspace", "suspend", ...at);
  const client = await connectTo(database.url);
  const { rows } = await client.query(
    `select actor, actor_name, operator_id, action, workspace_id::int, request_id
     from audit_entry order by id`,
  );
  expect(rows).toEqual(
    [
      "CreateWorkspace",
      "RotateWorkspaceApiKeys",
      "RevokeWorkspaceApiKey",
      "ConnectPaymentProvider",
      "UpdateWorkspaceLimits",
      "SuspendWorkspace",
    ].map((action) => ({
      actor: "command_line",
      actor_name: userInfo().username,
      operator_id: null,
      action,
      workspace_id: workspace.id,
      request_id: null,
    })),
  );
});

test.each([
  ["payment-provider", "connect", "--provider", "manual"],
  ["payment-provider", "show"],
  ["payment-provider", "disconnect"],
  ["key", "rotate"],
  ["key", "revoke", "--last4", "abcd"],
  ["limits", "show"],
  ["member", "invite", "--email", "a@example.org"],
  ["workspace", "rename", "--name", "X"],
  ["workspace", "suspend"],
  ["workspace", "resume"],
])("%s %s refuses an unknown workspace", async (...args) => {
  expect(await runCommand([...args, "--workspace", "404", "--json"], environment)).toEqual(
    refused("There is no workspace 404.\n"),
  );
});

test("without --json the commands print text, and a key only when it is created", async () => {
  const words = async (...args: string[]) => (await runCommand(args, environment)).stdout;
  expect(await words("workspace", "list")).toBe("No workspaces yet.\n");
  const created = await words("workspace", "create", "--name", "Acme");
  expect(created).toMatch(
    /^Workspace 1: Acme\nLive key, shown only once: shp_\w{36}\nTest key, shown only once: shp_test_\w{36}\n$/,
  );
  expect(await words("payment-provider", "connect", "--workspace", "1", "--provider", "manual")).toBe(
    "Workspace 1 uses the payment provider manual.\n",
  );
  expect(await words("payment-provider", "disconnect", "--workspace", "1")).toBe(
    "Workspace 1 has no payment provider.\n",
  );
  expect(await words("key", "rotate", "--workspace", "1")).toMatch(
    /^New key, shown only once: shp_\w{36}\nEvery other key of the workspace has expired. With --overlap SECONDS, they would have remained valid for that time.\n$/,
  );
  const rotated = await words("key", "rotate", "--workspace", "1", "--overlap", "60");
  expect(rotated).toMatch(
    /^New key, shown only once: shp_\w{36}\nAll other keys of the workspace expire in 60 seconds.\n$/,
  );
  expect(await words("workspace", "list")).toMatch(
    /^1 {2}Acme {2}no payment provider {2}\.\.\.\w{4} until \S+Z, \.\.\.\w{4}\n$/,
  );
  const last4 = rotated.split("\n")[0]!.slice(-4);
  expect(await words("key", "revoke", "--workspace", "1", "--last4", last4)).toBe("Revoked 1.\n");
});
