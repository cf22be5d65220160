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

/** Starts `serve --demo` and waits for what it prints for people: everything that is no log line. */
async function startDemo(environment: Environment): Promise<ServiceProcess & { said: string }> {
  const served = await startServiceProcess(environment, ["--demo"]);
  const said = await eventually("the introduction", () => {
    const lines = served.stdout().split("\n");
    const words = lines.filter((line) => !line.startsWith("{")).join("\n");
    return /^curl .*\n[^]*\n(curl|.*npm run) .*\n/m.test(words) && words;
  });
  return { ...served, said };
}

/** Signs in by each link that is printed, and tells as whom. */
async function signInByLinks(service: ServiceProcess & { said: string }) {
  const links = service.said.match(/^http.*#token=.*$/gm) ?? [];
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

test("the first start of the demo prints both addresses, links to sign in by, a workspace's key and an owner's, each with a working curl line; a second keeps all data, and prints new links, and how to make new keys and use them", async () => {
  const folder = makeTemporaryFolder("demo");
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

  const first = await startDemo({ DATA_DIR: folder });
  expect(first.said).toContain(`${first.httpUrl}/v1\n`);
  const { port } = new URL(first.httpUrl);
  expect(first.said).toContain(`  Dashboard   ${first.httpUrl}/\n`);
  expect(first.said).toContain(`  Guides      ${first.httpUrl}/docs\n`);
  expect(first.said).toContain(` ${first.grpcUrl.slice("http://".length)}\n`);
  const [apiKey = ""] = KEY.exec(first.said) ?? [];
  const [curl = "", ownersCurl = "", ...noMore] = first.said.match(/^curl .*$/gm) ?? [];
  expect(noMore).toEqual([]);
  expect(first.stdout().trimEnd().endsWith(ownersCurl)).toBe(true);
  const [operatorKey = ""] = OPERATOR_KEY.exec(first.said) ?? [];
  const listed = spawnSync("sh", ["-c", ownersCurl], { encoding: "utf8" });
  expect(JSON.parse(listed.stdout)).toMatchObject({ data: [{ name: "Demo" }] });
  const self = await first.request("/admin/v1/self", { apiKey: operatorKey });
  expect(self.body.data).toMatchObject({ name: "owner", kind: "person", role: "owner" });
  const roles = await signInByLinks(first);
  expect(roles).toEqual([
    { email: "demo@example.org", workspaces: [["Demo", "admin"]], operatorRole: null },
    { email: "owner@example.org", workspaces: [], operatorRole: "owner" },
  ]);
  const linkCommands = first.said.match(/^.*npm run .*$/gm) ?? [];
  const prefix = `DATA_DIR='${folder}' PORT=${port} npm run --silent shipments --`;
  expect(linkCommands).toEqual([
    `${prefix} member invite --workspace 1 --email demo@example.org`,
    `${prefix} operator sign-in --operator ${self.body.data.id}`,
  ]);
  const printed = linkCommands.map((line) => spawnSync("sh", ["-c", line], { encoding: "utf8" }));
  expect(
    await signInByLinks({ ...first, said: printed.map(({ stdout }) => stdout).join("") }),
  ).toEqual(roles);
  const { body: log } = await first.request("/admin/v1/audit_entries", { apiKey: operatorKey });
  expect(log.data).toContainEqual(
    expect.objectContaining({
      actor: { kind: "service", name: "demo", operator: null },
      action: "CreateOperator",
      subject: `operator/${self.body.data.id}`,
      request_id: null,
    }),
  );
  const pasted = spawnSync("sh", ["-c", curl], { encoding: "utf8" });
  expect(JSON.parse(pasted.stdout)).toMatchObject({ covered: true, currency: "USD" });
  const booked = await first.request("/v1/shipments", { apiKey, body: BOOKING });
  expect(booked.body.data).toMatchObject({ test: true });
  const webhook = { url: "http://127.0.0.1:3000/" };
  expect((await first.request("/v1/webhooks", { apiKey, body: webhook })).status).toBe(201);
  const [liveKey = ""] = LIVE_KEY.exec(first.said) ?? [];
  const live = await first.request("/v1/shipments", { apiKey: liveKey, body: BOOKING });
  expect(live.body.data).toMatchObject({ test: false });
  first.process.kill("SIGINT");
  expect(await first.ended).toMatchObject({ code: 0, stderr: "" });

  const second = await startDemo({ DATA_DIR: folder });
  expect(second.said).toContain(`${second.httpUrl}/v1\n`);
  expect(second.said).not.toMatch(/shp_|sho_/);
  expect(await signInByLinks(second)).toEqual(roles);
  const [newKeyCommand = "", newOwnerKeyCommand = ""] =
    second.said.match(/^DATA_DIR=.* npm run .* (key|operator) rotate .*$/gm) ?? [];
  const [newKey = ""] =
    KEY.exec(spawnSync("sh", ["-c", newKeyCommand], { encoding: "utf8" }).stdout) ?? [];
  const [pasteLine = "", curlLine = ""] = /^export .*\ncurl .*$/m.exec(second.said)![0].split("\n");
  const shell = `${pasteLine}${newKey}\n${curlLine}`;
  await eventually("the new key to work", () => {
    const { stdout } = spawnSync("sh", ["-c", shell], { encoding: "utf8" });
    return JSON.parse(stdout).covered === true;
  });
  const [newOperatorKey = ""] =
    OPERATOR_KEY.exec(spawnSync("sh", ["-c", newOwnerKeyCommand], { encoding: "utf8" }).stdout) ??
    [];
  await eventually("the owner's new key to work", async () => {
    const { body } = await second.request("/admin/v1/self", { apiKey: newOperatorKey });
    return body.data?.id === self.body.data.id;
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

test("the demo's workspace is recorded as made by the service itself", async () => {
  const database = await createDatabase();
  const orm = createOrm(database.url, { entities: ENTITIES });
  onTestFinished(async () => {
    await orm.close();
  });
  const addresses = { http: "http://127.0.0.1:1", grpc: "127.0.0.1:2" };
  const said = await demoBanner(
    { em: orm.em, tasks: createTariffTasks(database.url) },
    { databaseUrl: database.url, dataDir: "", publicUrl: undefined },
    addresses,
  );
  // There is no dashboard here to sign in to.
  expect(said).not.toContain("#token=");
  const [apiKey = ""] = KEY.exec(said) ?? [];
  const entries = await orm.em.execute(
    "select actor, actor_name, action, subject, changes from audit_entry",
  );
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

test("the demo changes nothing in a database that has a workspace", async () => {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url, HOST: "127.0.0.1" };
  const { stdout } = await runCommand(
    ["workspace", "create", "--name", "Acme", "--json"],
    environment,
  );
  const { api_key: apiKey } = JSON.parse(stdout);
  const served = await startServiceProcess(environment, ["--demo"]);
  await eventually("the service to want a tariff", async () => {
    const { body } = await served.request("/readyz");
    return body.status === "waiting for its first tariff";
  });
  await runCommand(["tariff", "publish", "src/demo/sample-tariff.json"], environment);
  await served.untilReady();
  const quoted = await served.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  expect(quoted.status).toBe(200);
  const { workspace } = JSON.parse(stdout);
  await eventually("the introduction", () =>
    served
      .stdout()
      .includes(`\nnpm run --silent shipments -- key rotate --workspace ${workspace.id} --test\n`),
  );
  expect(served.stdout()).toContain(
    "\nnpm run --silent shipments -- operator create --name owner --kind machine --role owner\n",
  );
  expect(served.stdout()).not.toContain("#token=");
  expect(served.stdout()).not.toMatch(KEY);
  expect(served.stdout()).not.toMatch(OPERATOR_KEY);
});
