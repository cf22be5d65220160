import { describe, expect, test } from "vitest";
import { WorkspaceAdminService } from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, BOOKING } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { key } = await service.addOperator("operator");
const as = service.as(key);

/** Makes a workspace name unique. */
const nameOf = (name: string) => `${name} ${key.slice(-6)}`;
const add = async (name: string) => {
  const { body } = await as.createWorkspace({ name: nameOf(name) });
  return { id: body.data.id as number, apiKey: body.api_key as string };
};
const workspaceWith = (fields: object) => ({
  id: expect.any(Number),
  payment_provider: null,
  suspended_at: null,
  created_at: ANY_TIME,
  test_workspace: expect.any(Number),
  live_workspace: null,
  time_zone: "UTC",
  limits: DEFAULT_LIMITS,
  ...fields,
});
const namesOf = async (name_contains: string): Promise<string[]> =>
  (await data(as.listWorkspaces({ name_contains, page_size: 100 }))).map(({ name }: any) => name);
/** Returns a workspace's audit entries since its creation. */
const actionsOn = async (id: number) =>
  (await auditEntriesOf(service, id)).slice(1).map(({ action, changes }) => [action, changes]);

describe("a new workspace", () => {
  test("has a name and an active key, and can book once a provider is connected", async () => {
    const { body } = await as.createWorkspace({ name: " Acme " });
    expect(body).toEqual({
      data: workspaceWith({ name: "Acme" }),
      api_key: expect.stringMatching(/^shp_[0-9A-Za-z]{36}$/),
      test_api_key: expect.stringMatching(/^shp_test_[0-9A-Za-z]{36}$/),
    });
    const workspace = body.data.id;
    expect(await data(as.getWorkspace({ workspace }))).toEqual(body.data);
    const book = () => service.as(body.api_key).createShipment(BOOKING);
    expect((await book()).code).toBe("PAYMENT_PROVIDER_NOT_CONNECTED");
    const provider = { payment_provider: "manual" };
    const connected = { ...body.data, ...provider };
    const disconnected = { ...body.data, payment_provider: null };
    // A repeated call has no further effect.
    for (let i = 0; i < 2; i++) {
      expect(await data(as.connectPaymentProvider({ workspace, ...provider }))).toEqual(connected);
    }
    expect((await book()).status).toBe(201);
    for (let i = 0; i < 2; i++) {
      expect(await data(as.disconnectPaymentProvider({ workspace }))).toEqual(disconnected);
    }
    expect((await book()).code).toBe("PAYMENT_PROVIDER_NOT_CONNECTED");
    expect(await actionsOn(workspace)).toEqual([
      ["ConnectPaymentProvider", [{ field: "payment_provider", before: null, after: "manual" }]],
      ["DisconnectPaymentProvider", [{ field: "payment_provider", before: "manual", after: null }]],
    ]);
  });

  test("can be created with a provider, and its keys are not in the audit log", async () => {
    const { body } = await as.createWorkspace({ name: "A", payment_provider: "manual" });
    expect(body.data).toEqual(workspaceWith({ name: "A", payment_provider: "manual" }));
    expect((await service.as(body.api_key).createShipment(BOOKING)).status).toBe(201);
    const entries = JSON.stringify(await auditEntriesOf(service, body.data.id));
    for (const secret of [body.api_key, body.test_api_key]) {
      expect(entries).not.toContain(secret.slice(9, -4));
    }
  });
});

test("lists workspaces by name, page by page, filtered by any part of the name in any case", async () => {
  const parts = ["Zürich Ä", "zürich ä 2", "100% Zürich", "100 Zürich", "Zürich_1", "Zürich\\1"];
  const names = [...parts, "Same Zürich", "Same Zürich", "Same Zürich"].map(nameOf);
  for (const part of [...parts, "Same Zürich", "Same Zürich", "Same Zürich"]) await add(part);
  const own = (listed: string[]) => listed.filter((name) => name.endsWith(nameOf("")));
  expect(own(await namesOf("ZÜRICH"))).toEqual(names.toSorted());
  for (const [part, expected] of [
    ["zürich Ä", ["Zürich Ä", "zürich ä 2"]],
    ["% z", ["100% Zürich"]],
    ["h_1", ["Zürich_1"]],
    ["h\\1", ["Zürich\\1"]],
    ["nobody has this", []],
  ] as const) {
    expect(own(await namesOf(part))).toEqual(expected.map(nameOf));
  }
  const whole = await data(as.listWorkspaces({ name_contains: "zürich", page_size: 100 }));
  const paged: object[] = [];
  let page_token = "";
  do {
    const page = { name_contains: "zürich", page_size: 2, page_token };
    const { body } = await as.listWorkspaces(page);
    paged.push(...body.data);
    page_token = body.next_page_token;
  } while (page_token !== "");
  expect(paged).toEqual(whole);
});

test("a page token works after the longest possible name, and only with the same filters", async () => {
  const names = ["\u0001", "🚲", "x"].map((letter) => `Long ${key.slice(-6)} ${letter.repeat(188)}`);
  for (const name of names) await data(as.createWorkspace({ name }));
  const filters = { name_contains: `Long ${key.slice(-6)}`, page_size: 1 };
  const seen: string[] = [];
  let page_token = "";
  for (let page = 0; page < 3; page++) {
    const { body } = await as.listWorkspaces({ ...filters, page_token });
    seen.push(body.data[0].name);
    page_token = body.next_page_token || page_token;
  }
  expect(seen.sort()).toEqual(names.sort());
  for (const other of [{ name_contains: "long" }, { suspended: false }, { name_contains: "" }]) {
    const page = as.listWorkspaces({ ...filters, ...other, page_token });
    await expectRefused(page, "FIELD_INVALID", {
      page_token: "page_token is not the next_page_token of a page with these filters.",
    });
  }
});

test("filters workspaces by suspension", async () => {
  const [running, suspended] = [(await add("State")).id, (await add("State")).id];
  await as.suspendWorkspace({ workspace: suspended });
  const idsOf = async (filter: object) =>
    (await data(as.listWorkspaces({ name_contains: nameOf("State"), ...filter }))).map(({ id }: any) => id);
  expect(await idsOf({})).toEqual([running, suspended]);
  expect(await idsOf({ suspended: true })).toEqual([suspended]);
  expect(await idsOf({ suspended: false })).toEqual([running]);
});

test("a renamed workspace has its new name everywhere, and the change is audited once", async () => {
  const { id: workspace, apiKey } = await add("Before");
  for (const name of [" After ", "After"]) {
    const renamed = await data(as.renameWorkspace({ workspace, name }));
    expect(renamed).toEqual(workspaceWith({ id: workspace, name: "After" }));
  }
  expect((await data(service.as(apiKey).getWorkspace())).name).toBe("After");
  expect(await actionsOn(workspace)).toHaveLength(1);
});

test("sets the given limits, keeps the others, and applies them soon", async () => {
  const { id: workspace, apiKey } = await add("Limited");
  const applied = async () => (await data(service.as(apiKey).getWorkspace())).limits.quote;
  expect(await applied()).toEqual(DEFAULT_LIMITS.quote);
  const limits = { ...DEFAULT_LIMITS, quote: { rate: 7, burst: 14 }, write: { rate: 3, burst: 9 } };
  for (const body of [{ quote: { rate: 7 }, write: limits.write }, { quote: { rate: 7 } }, {}]) {
    const changed = await data(as.updateWorkspaceLimits({ workspace, ...body }));
    expect(changed.limits).toEqual(limits);
  }
  await eventually("the limit to apply", async () => (await applied()).rate === 7);
  const most = { rate: 1_000_000, burst: 1_000_000 };
  const changed = await data(as.updateWorkspaceLimits({ workspace, read: { rate: most.rate } }));
  expect(changed.limits).toEqual({ ...limits, read: most });
  const change = (of: string, before: string, after: string) => {
    return { field: `limits.${of}`, before, after };
  };
  expect((await actionsOn(workspace)).map(([, changes]) => changes)).toEqual([
    [
      change("quote", "10000 per second, burst 20000", "7 per second, burst 14"),
      change("write", "2000 per second, burst 4000", "3 per second, burst 9"),
    ],
    [change("read", "5000 per second, burst 10000", "1000000 per second, burst 1000000")],
  ]);
});

/** Required fields of methods. Without them, a call fails before its workspace is checked. */
const REQUIRED = {
  name: "X",
  payment_provider: "manual",
  time_zone: "Asia/Tokyo",
  email: "x@example.org",
  key: `key_${"0".repeat(24)}`,
};

test.each(["404404404", "0", "-1", "9007199254740991"])(
  "workspace %s is not found by any operator method",
  async (workspace) => {
    for (const { localName, input } of WorkspaceAdminService.methods) {
      const names = new Set(input.fields.map(({ name }) => name));
      if (!names.has("workspace")) continue;
      const required = Object.entries(REQUIRED).filter(([name]) => names.has(name));
      const fields: object = { workspace, ...Object.fromEntries(required) };
      const call = as[localName as "getWorkspace"](fields);
      await expectRefused(call, "WORKSPACE_NOT_FOUND", `There is no workspace ${workspace}.`);
    }
  },
);

describe("rejects an invalid field by name", async () => {
  const { id: workspace } = await add("Ruled");
  test.each([
    ["createWorkspace", {}, "name"],
    ["createWorkspace", { name: "x".repeat(201) }, "name"],
    ["createWorkspace", { name: "X", payment_provider: "cash" }, "payment_provider"],
    ["createWorkspace", { name: "Two\nlines" }, "name"],
    ["createWorkspace", { name: "X", time_zone: "Mars/Olympus" }, "time_zone"],
    ["renameWorkspace", { name: "Two\rlines" }, "name"],
    ["renameWorkspace", { name: " " }, "name"],
    ["connectPaymentProvider", {}, "payment_provider"],
    ["updateWorkspaceTimeZone", {}, "time_zone"],
    ["updateWorkspaceLimits", { quote: {} }, "quote.rate"],
    ["updateWorkspaceLimits", { read: { rate: 0 } }, "read.rate"],
    ["updateWorkspaceLimits", { write: { rate: 1, burst: 1_000_001 } }, "write.burst"],
    ["rotateWorkspaceApiKeys", { overlap_seconds: 604_801 }, "overlap_seconds"],
  ] as const)("%s %j", async (method, fields, field) => {
    const call = as[method as "renameWorkspace"]({ workspace, ...fields });
    expect(Object.keys((await call).body.errors)).toEqual([field]);
  });
});
