import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BOOKING, COVERED_ROUTE } from "../support/bookings.ts";
import { runJson, runProcess, startCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const SAMPLE_FILE = "src/demo/sample-tariff.json";

function makeDataFolder(): string {
  const folder = makeTemporaryFolder("commands");
  onTestFinished(() => {
    const postmaster = postmasterOf(folder);
    if (postmaster !== undefined) process.kill(postmaster, "SIGQUIT");
    rmSync(folder, { recursive: true, maxRetries: 10 });
  });
  return folder;
}

test("every command works with the embedded database, whether or not the server runs", async () => {
  const environment = { DATA_DIR: makeDataFolder() };
  const json = (...args: string[]) => runJson(args, environment, runProcess);

  const { applied } = await json("migrate");
  expect(applied.length).toBeGreaterThan(0);
  const { workspace, api_key: apiKey } = await json("workspace", "create", "--name", "Acme");
  const at = ["--workspace", String(workspace.id)];

  const served = await startServiceProcess(environment);
  expect(await json("migrate")).toEqual({ applied: [] });
  expect(await json("tariff", "publish", SAMPLE_FILE)).toMatchObject({ version: 1 });
  await served.untilReady();
  await json("payment-provider", "connect", ...at, "--provider", "manual");
  const booked = await served.request("/v1/shipments", { apiKey, body: BOOKING });
  expect(booked.status).toBe(201);
  const { api_key: newKey } = await json("key", "rotate", ...at, "--overlap", "60");
  const quoted = await served.request("/v1/shipments/quote", {
    apiKey: newKey,
    body: COVERED_ROUTE,
  });
  expect(quoted.status).toBe(200);

  served.process.kill("SIGTERM");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(await json("key", "revoke", ...at, "--last4", newKey.slice(-4))).toEqual({ revoked: 1 });
  expect(await json("tariff", "show")).toMatchObject({ version: 1 });
  expect(await json("workspace", "list")).toMatchObject({
    workspaces: [{ keys: [{ last4: apiKey.slice(-4) }] }],
  });
});

test("a command uses the database that a killed server left running, then stops it", async () => {
  const environment = { DATA_DIR: makeDataFolder() };
  const served = await startServiceProcess(environment);
  await runJson(["workspace", "create", "--name", "Acme"], environment, runProcess);
  served.process.kill("SIGKILL");
  await served.ended;
  const postmaster = postmasterOf(environment.DATA_DIR);
  expect(postmaster).toBeDefined();

  const { workspaces } = await runJson(["workspace", "list"], environment, runProcess);
  expect(workspaces).toMatchObject([{ name: "Acme" }]);
  expect(postmasterOf(environment.DATA_DIR)).toBe(undefined);
});

test("a server that starts during a command keeps the command's database running", async () => {
  const environment = { DATA_DIR: makeDataFolder() };
  const [served] = await Promise.all([
    startServiceProcess(environment),
    runJson(["migrate"], environment, runProcess),
    runJson(["tariff", "publish", SAMPLE_FILE], environment, runProcess),
  ]);
  await served.untilReady();

  served.process.kill("SIGINT");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(postmasterOf(environment.DATA_DIR)).toBe(undefined);
});

test("an interrupted command leaves no process running", async () => {
  const environment = { DATA_DIR: makeDataFolder() };
  const command = startCommand(["migrate"], environment);
  await eventually("the database to start", () => postmasterOf(environment.DATA_DIR));
  command.process.kill("SIGINT");
  expect(await command.ended).toMatchObject({ code: 1, stdout: "" });
  expect(postmasterOf(environment.DATA_DIR)).toBe(undefined);
});

test("names a data folder that cannot be created in the error", async () => {
  const { code, stdout, stderr } = await runProcess(["migrate", "--json"], {
    DATA_DIR: "/dev/null",
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^no embedded PostgreSQL in \/dev\/null: .+\n$/);
});

test.runIf(process.platform === "linux")("fails immediately if a data folder cannot exist", async () => {
  const { code, stderr } = await runProcess(["migrate"], { DATA_DIR: "/proc/nowhere" });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^no embedded PostgreSQL in \/proc\/nowhere: .+; choose a DATA_DIR .+\n$/);
});

/** Returns the process id of the PostgreSQL that runs in a data folder. */
function postmasterOf(dataDir: string): number | undefined {
  const file = join(dataDir, "postgres/postmaster.pid");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8")) : undefined;
}
