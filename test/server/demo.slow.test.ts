import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createOrm } from "../../src/db/orm.ts";
import { createTariffTasks } from "../../src/features/tariffs/tasks/run-tariff-task.ts";
import { demoBanner } from "../../src/demo/demo.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { BOOKING, COVERED_ROUTE } from "../support/bookings.ts";
import { signInByPath } from "../support/browser.ts";
import { runCommand, type Environment } from "../support/command.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const KEY = /shp_test_[0-9A-Za-z]{36}/;
const LIVE_KEY = /shp_[0-9A-Za-z]{36}/;
const OPERATOR_KEY = /sho_[0-9A-Za-z]{36}/;

/** Starts `serve --demo` and waits for the introduction, that is, all output that is not the log. */
async function startDemo(environment: Environment): Promise<ServiceProcess & { output: string }> {
  const served = await startServiceProcess(environment, ["--demo"]);
  const output = await eventually("the introduction", () => {
    const lines = served.stdout().split("\n");
    const words = lines.filter((line) => !line.startsWith("{")).join("\n");
    return /^curl .*\n[^]*\n.*npm run .* operator \w+ --operator .*\n\n$/m.test(words) && words;
  });
  return { ...served, output };
}

/** Signs in with each printed link. Returns each person's email, workspaces and operator role. */
async function signInByLinks(service: ServiceProcess & { output: string }) {
  const links = service.output.match(/http\S*#token=.*$/gm) ?? [];
  return Promise.all(
    links.map(async (link) => {
      expect(link.startsWith(`${service.httpUrl}/sign-in#token=`)).toBe(true);
      const signedIn = await signInByPath(service, link.slice(service.httpUrl.length));
      const { body } = await signedIn.request("/account/v1/account");
      const { email, workspaces, operator_role: operatorRole } = body.data;
      const roles = workspaces.map((it: { name: string; role: string }) => [it.name, it.role]);
      return { email, workspaces: roles, operatorRole };
    }),
  );
}

/** Runs commands from the introduction in a shell, as if pasted into another terminal. Returns the output. */
function paste(...lines: readonly string[]): string {
  return spawnSync("sh", ["-c", lines.join("\n")], { encoding: "utf8" }).stdout;
}

test("the first start of the demo prints a sign-in link and a working test key, and the second keeps all data and prints only a new link", async () => {
  const folder = makeTemporaryFolder("demo");
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

  const first = await startDemo({ DATA_DIR: folder });
  const { port } = new URL(first.httpUrl);
  expect(first.output).toContain(`\n  Dashboard   ${first.httpUrl}/sign-in#token=`);
  expect(first.output).toContain(`  Guides      ${first.httpUrl}/docs\n`);
  expect(first.output).toContain(`  JSON        ${first.httpUrl}/v1\n`);
  expect(first.output).toContain(`  gRPC        ${first.grpcUrl.slice("http://".length)}\n`);
  const roles = await signInByLinks(first);
  expect(roles).toEqual([{ email: "demo@example.org", workspaces: [["Demo", "admin"]], operatorRole: null }]);
  expect(first.output.match(/shp_|sho_/g)).toEqual(["shp_"]);
  const [apiKey = ""] = KEY.exec(first.output) ?? [];
  const [, exportLine = "", curl = ""] = /^(export .*)\n(curl .*)$/m.exec(first.output) ?? [];
  expect(JSON.parse(paste(exportLine, curl))).toMatchObject({ covered: true, currency: "USD" });
  const booked = await first.request("/v1/shipments", { apiKey, body: BOOKING });
  expect(booked.body.data).toMatchObject({ test: true });
  const webhook = { url: "http://127.0.0.1:3000/" };
  expect((await first.request("/v1/webhooks", { apiKey, body: webhook })).status).toBe(201);

  const commands = first.output.match(/^.*npm run .*$/gm) ?? [];
  const prefix = `DATA_DIR='${folder}' PORT=${port} npm run --silent shipments --`;
  const [, operator] = /operator sign-in --operator (\d+)/.exec(first.output) ?? [];
  expect(commands).toEqual([
    `${prefix} member invite --workspace 1 --email demo@example.org`,
    `${prefix} operator sign-in --operator ${operator}`,
    `${prefix.replace(` PORT=${port}`, "")} key rotate --workspace 1 --test`,
    `${prefix.replace(` PORT=${port}`, "")} key rotate --workspace 1`,
    `${prefix.replace(` PORT=${port}`, "")} operator rotate --operator ${operator}`,
  ]);
  const [invite = "", signIn = "", newTestKey = "", newLiveKey = "", newOperatorKey = ""] = commands;
  expect(await signInByLinks({ ...first, output: paste(invite, signIn) })).toEqual([
    ...roles,
    { email: "owner@example.org", workspaces: [], operatorRole: "owner" },
  ]);
  const [liveKey = ""] = LIVE_KEY.exec(paste(newLiveKey)) ?? [];
  const live = await first.request("/v1/shipments", { apiKey: liveKey, body: BOOKING });
  expect(live.body.data).toMatchObject({ test: false });
  const [operatorKey = ""] = OPERATOR_KEY.exec(paste(newOperatorKey)) ?? [];
  const self = await first.request("/admin/v1/self", { apiKey: operatorKey });
  expect(self.body.data).toMatchObject({ name: "owner", kind: "person", role: "owner" });
  const { body: log } = await first.request("/admin/v1/audit_entries", { apiKey: operatorKey });
  expect(log.data).toContainEqual(
    expect.objectContaining({
      actor: { kind: "service", name: "demo", operator: null, api_key: null },
      action: "CreateOperator",
      subject: `operator/${operator}`,
      request_id: null,
    }),
  );
  first.process.kill("SIGINT");
  expect(await first.ended).toMatchObject({ code: 0, stderr: "" });

  const second = await startDemo({ DATA_DIR: folder });
  expect(second.output).toContain(`${second.httpUrl}/v1\n`);
  expect(second.output).not.toMatch(/shp_|sho_/);
  expect(await signInByLinks(second)).toEqual(roles);
  expect(second.output).toContain(`\n${newTestKey}\n${newLiveKey}\n${newOperatorKey}\n`);
  const [newKey = ""] = KEY.exec(paste(newTestKey)) ?? [];
  const [, keyLine = "", curlLine = ""] = /^(export .*)\n(curl .*)$/m.exec(second.output) ?? [];
  await eventually("the new key to work", () => {
    return JSON.parse(paste(`${keyLine}${newKey}`, curlLine)).covered === true;
  });
  const { reference } = booked.body.data;
  const cancelled = await second.request(`/v1/shipments/${reference}/cancel`, {
    apiKey: newKey,
    method: "POST",
  });
  expect(cancelled.body.data).toMatchObject({ reference, status: "cancelled" });
  second.process.kill("SIGINT");
  expect(await second.ended).toMatchObject({ code: 0, stderr: "" });
});

test("the audit log attributes the demo's workspace to the service", async () => {
  const database = await createDatabase();
  const orm = createOrm(database.url, { entities: ENTITIES });
  onTestFinished(async () => {
    await orm.close();
  });
  const addresses = { http: "http://127.0.0.1:1", grpc: "127.0.0.1:2" };
  const output = await demoBanner(
    { em: orm.em, tasks: createTariffTasks(database.url) },
    { databaseUrl: database.url, dataDir: "", publicUrl: undefined },
    addresses,
  );
  // This service has no dashboard, so there are no sign-in links.
  expect(output).not.toContain("#token=");
  const [apiKey = ""] = KEY.exec(output) ?? [];
  const entries = await orm.em.execute("select actor, actor_name, action, subject, changes from audit_entry");
  expect(entries).toContainEqual({
    actor: "service",
    actor_name: "demo",
    action: "CreateWorkspace",
    subject: "workspace/1",
    changes: [
      { field: "name", before: null, after: "Demo" },
      { field: "payment_provider", before: null, after: "manual" },
      { field: "api_key", before: null, after: expect.stringMatching(/^key_/) },
      { field: "test_workspace", before: null, after: "2" },
      { field: "test_api_key", before: null, after: expect.stringMatching(/^key_/) },
    ],
  });
  expect(JSON.stringify(entries)).not.toContain(apiKey.slice(4, -4));
});

test("the demo does not change a database that has a workspace", async () => {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url, HOST: "127.0.0.1" };
  const { stdout } = await runCommand(["workspace", "create", "--name", "Acme", "--json"], environment);
  const { api_key: apiKey } = JSON.parse(stdout);
  const served = await startServiceProcess(environment, ["--demo"]);
  await eventually("the service to wait for a tariff", async () => {
    const { body } = await served.request("/readyz");
    return body.status === "waiting for the first tariff";
  });
  await runCommand(["tariff", "publish", "src/demo/sample-tariff.json"], environment);
  await served.untilReady();
  const quoted = await served.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  expect(quoted.status).toBe(200);
  const { workspace } = JSON.parse(stdout);
  await eventually("the introduction", () =>
    served.stdout().includes(`\nnpm run --silent shipments -- key rotate --workspace ${workspace.id} --test\n`),
  );
  expect(served.stdout()).toContain(
    "\nnpm run --silent shipments -- operator create --name owner --kind machine --role owner\n",
  );
  expect(served.stdout()).not.toContain("#token=");
  expect(served.stdout()).not.toMatch(KEY);
  expect(served.stdout()).not.toMatch(OPERATOR_KEY);
});
