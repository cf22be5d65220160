import { describe, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { signIn } from "../../support/browser.ts";
import { sharedService, type TestWorkspace } from "../../support/service.ts";

const service = await sharedService();
const operator = service.as((await service.addOperator("operator")).key);

const zoneOf = async (apiKey: string) => (await data(service.as(apiKey).getWorkspace())).time_zone;

/** Calls with which the time zone of a workspace can be set. */
const SETTERS = {
  "the workspace": ({ apiKey }: TestWorkspace) => service.as(apiKey).updateWorkspace,
  "an operator":
    ({ id: workspace }: TestWorkspace) =>
    (fields: object) =>
      operator.updateWorkspaceTimeZone({ workspace, ...fields }),
};

describe.each(Object.entries(SETTERS))("%s", (_, setter) => {
  test("sets the time zone for the twin and members' accounts too, and audits only changes", async () => {
    const workspace = await service.addWorkspace();
    const { id, apiKey, twin } = workspace;
    const set = setter(workspace);
    for (const time_zone of ["Asia/Kathmandu", "Asia/Kathmandu", "America/New_York"]) {
      expect((await data(set({ time_zone }))).time_zone).toBe(time_zone);
    }
    expect(await zoneOf(apiKey)).toBe("America/New_York");
    expect(await zoneOf(twin.apiKey)).toBe("America/New_York");
    const viewer = await signIn(service, apiKey, { email: `v${id}@example.org`, role: "viewer" });
    const { body } = await viewer.request("/account/v1/account");
    expect(body.data.workspaces).toMatchObject([{ id, time_zone: "America/New_York" }]);
    const [, first, second] = await auditEntriesOf(service, id);
    expect([first.changes, second.changes]).toEqual([
      [{ field: "time_zone", before: "UTC", after: "Asia/Kathmandu" }],
      [{ field: "time_zone", before: "Asia/Kathmandu", after: "America/New_York" }],
    ]);
  });

  test.each(["Mars/Olympus", "+01:00", "europe/berlin", "CEST", "2"])(
    "cannot set the invalid time zone %s",
    async (time_zone) => {
      const workspace = await service.addWorkspace();
      await expectRefused(setter(workspace)({ time_zone }), "FIELD_INVALID", {
        time_zone: "time_zone must be the IANA name of a time zone, such as Europe/Berlin.",
      });
      expect(await zoneOf(workspace.apiKey)).toBe("UTC");
    },
  );
});

test("an omitted or null time zone changes nothing, and an empty one means UTC", async () => {
  const { apiKey } = await service.addWorkspace();
  const { updateWorkspace } = service.as(apiKey);
  await updateWorkspace({ time_zone: "Asia/Tokyo" });
  for (const [fields, time_zone] of [
    [{}, "Asia/Tokyo"],
    [{ time_zone: null }, "Asia/Tokyo"],
    [{ time_zone: "" }, "UTC"],
  ] as const) {
    expect(await data(updateWorkspace(fields))).toMatchObject({ time_zone });
  }
  const long = await updateWorkspace({ time_zone: "x".repeat(101) });
  expect(Object.keys(long.body.errors)).toEqual(["time_zone"]);
});

test("a new workspace has the time zone given at its creation", async () => {
  const fields = { name: "Zoned", time_zone: "Europe/Berlin" };
  const { body } = await operator.createWorkspace(fields);
  expect(body.data.time_zone).toBe("Europe/Berlin");
  expect(await zoneOf(body.test_api_key)).toBe("Europe/Berlin");
  const [{ changes }] = await auditEntriesOf(service, body.data.id);
  expect(changes).toContainEqual({ field: "time_zone", before: null, after: "Europe/Berlin" });
});

test("the time zone cannot be set in test mode, or by members who are not admins", async () => {
  const { id, apiKey, twin } = await service.addWorkspace();
  const fields = { time_zone: "Asia/Tokyo" };
  const inTest = await service.as(twin.apiKey).updateWorkspace(fields);
  expect(inTest.code).toBe("LIVE_MODE_ONLY");
  for (const [role, status] of [
    ["admin", 200],
    ["member", 403],
  ] as const) {
    const member = await signIn(service, apiKey, { email: `${role}${id}@example.org`, role });
    const headers = { "x-workspace": String(id) };
    const call = { method: "PATCH", headers, body: fields };
    expect((await member.request("/v1/workspace", call)).status).toBe(status);
  }
});
