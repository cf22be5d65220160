import { describe, expect, test } from "vitest";
import {
  UpdateWorkspaceResponseSchema,
  WorkspaceService,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { signIn } from "../../support/browser.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const operator = await service.addOperator("operator");

const set = (apiKey: string, body: object, headers = {}) =>
  service.request("/v1/workspace", { apiKey, method: "PATCH", body, headers });
const zoneOf = async (apiKey: string) =>
  (await service.request("/v1/workspace", { apiKey })).body.data.time_zone;
const asOperator = (method: string, path: string, body?: object) =>
  service.request(`/admin/v1/workspaces${path}`, {
    apiKey: operator.key,
    method,
    ...(body === undefined ? {} : { body }),
  });
const changesOf = async (id: number) =>
  (await auditEntriesOf(service, id)).slice(1).map(({ action, changes }) => [action, changes]);
const change = (before: string, after: string) => [{ field: "time_zone", before, after }];

describe("the time zone of a workspace", () => {
  test("is set by the workspace, the same by JSON and by gRPC, and is in the audit log once it differs", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const data = (time_zone: string) => ({
      id,
      name: "Test",
      payment_provider: "manual",
      test: false,
      booking_blockers: [],
      limits: {
        request_bytes: 65_536,
        page_size: 100,
        batch_routes: 100,
        metadata_keys: 20,
        ...DEFAULT_LIMITS,
      },
      time_zone,
      address_search: false,
    });
    const { status, body } = await set(apiKey, { time_zone: "Asia/Kathmandu" });
    expect({ status, body }).toEqual({ status: 200, body: { data: data("Asia/Kathmandu") } });
    const grpc = service.grpcClient(apiKey, WorkspaceService);
    const byGrpc = await grpc.updateWorkspace({ timeZone: "America/New_York" });
    const expected = { data: data("America/New_York") };
    expect(inDialect(UpdateWorkspaceResponseSchema, byGrpc)).toEqual(expected);
    // What is not given, or is no change, changes nothing.
    expect((await set(apiKey, {})).body).toEqual(expected);
    expect((await set(apiKey, { time_zone: null })).body).toEqual(expected);
    expect((await set(apiKey, { time_zone: "America/New_York" })).body).toEqual(expected);
    expect((await set(apiKey, { time_zone: "" })).body).toEqual({ data: data("UTC") });
    expect(await changesOf(id)).toEqual([
      ["UpdateWorkspace", change("UTC", "Asia/Kathmandu")],
      ["UpdateWorkspace", change("Asia/Kathmandu", "America/New_York")],
      ["UpdateWorkspace", change("America/New_York", "UTC")],
    ]);
  });

  test.each(["Mars/Olympus", "+01:00", "europe/berlin", "CEST", "2", "x".repeat(101)])(
    "is none of the name %j",
    async (name) => {
      const { apiKey } = await service.addWorkspace();
      const { status, body } = await set(apiKey, { time_zone: name });
      expect([status, Object.keys(body.errors)]).toEqual([422, ["time_zone"]]);
      expect(await zoneOf(apiKey)).toBe("UTC");
    },
  );

  test("says how a name has to be, by JSON and by gRPC", async () => {
    const { apiKey } = await service.addWorkspace();
    const text = "time_zone must be the IANA name of a time zone, such as Europe/Berlin.";
    const { status, body } = await set(apiKey, { time_zone: "Berlin" });
    expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "time_zone") });
    const grpc = service.grpcClient(apiKey, WorkspaceService);
    expect(await rpcError(grpc.updateWorkspace({ timeZone: "Berlin" }))).toMatchObject({
      code: "InvalidArgument",
      message: text,
    });
  });

  test("is set by operators, at once for a new workspace, and is that of its twin", async () => {
    const fields = { name: "Zoned", time_zone: "Europe/Berlin" };
    const { status, body } = await asOperator("POST", "", fields);
    expect([status, body.data.time_zone]).toEqual([201, "Europe/Berlin"]);
    const { id, test_workspace: twin } = body.data;
    expect(await zoneOf(body.test_api_key)).toBe("Europe/Berlin");
    const path = (of: number) => `/${of}/time_zone`;
    const sent = { time_zone: "Asia/Tokyo" };
    const changed = await asOperator("PUT", path(id), sent);
    expect([changed.status, changed.body.data]).toEqual([200, { ...body.data, ...sent }]);
    expect((await asOperator("GET", `/${twin}`)).body.data.time_zone).toBe("Asia/Tokyo");
    expect(await zoneOf(body.test_api_key)).toBe("Asia/Tokyo");
    expect(await changesOf(id)).toEqual([
      ["UpdateWorkspaceTimeZone", change("Europe/Berlin", "Asia/Tokyo")],
    ]);
    const [{ changes }] = await auditEntriesOf(service, id);
    expect(changes).toContainEqual({ field: "time_zone", before: null, after: "Europe/Berlin" });
    const ofTwin = await asOperator("PUT", path(twin), sent);
    expect([ofTwin.status, ofTwin.code]).toEqual([422, "WORKSPACE_IS_TEST"]);
    const unknown = await asOperator("PUT", path(404_404), sent);
    expect([unknown.status, unknown.code]).toEqual([404, "WORKSPACE_NOT_FOUND"]);
  });

  test("is not set in test mode, nor by members who are no admins", async () => {
    const { id, apiKey, twin } = await service.addWorkspace();
    const inTest = await set(twin.apiKey, { time_zone: "Asia/Tokyo" });
    expect([inTest.status, inTest.code]).toEqual([403, "LIVE_MODE_ONLY"]);
    const headers = { "x-workspace": String(id) };
    const asMember = async (role: "admin" | "member") => {
      const member = await signIn(service, apiKey, { email: `${role}${id}@example.org`, role });
      const call = { method: "PATCH", headers, body: { time_zone: "Asia/Tokyo" } };
      return (await member.request("/v1/workspace", call)).status;
    };
    expect(await asMember("admin")).toBe(200);
    expect(await asMember("member")).toBe(403);
  });

  test("is in the account of who signs in", async () => {
    const { id, apiKey } = await service.addWorkspace();
    await set(apiKey, { time_zone: "Asia/Tokyo" });
    const email = `viewer${id}@example.org`;
    const viewer = await signIn(service, apiKey, { email, role: "admin" });
    const { body } = await viewer.request("/account/v1/account");
    expect(body.data.workspaces).toMatchObject([{ id, time_zone: "Asia/Tokyo" }]);
  });
});
