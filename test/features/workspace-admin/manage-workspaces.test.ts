import { describe, expect, test } from "vitest";
import {
  CreateWorkspaceResponseSchema,
  ListWorkspacesResponseSchema,
  WorkspaceAdminService,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";

const ANY_SECRET = expect.stringMatching(/^shp_[0-9A-Za-z]{36}$/);

const service = await startService();
const replica = await startReplica(service.databaseUrl);
const operator = await service.addOperator("operator");

const ask = async (method: string, path: string, body?: object, headers = {}) => {
  const answer = await service.request(`/admin/v1/workspaces${path}`, {
    apiKey: operator.key,
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: answer.body };
};
const add = async (name: string, fields: object = {}) => {
  const { status, body } = await ask("POST", "", { name, ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
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
const found = (data: object) => ({ status: 200, body: { data } });
const actionsOn = async (id: number) =>
  (await auditEntriesOf(service, id)).map(({ action, changes }) => [action, changes]);

describe("a new workspace", () => {
  test("has a name and one key that works, and can book once a provider is connected", async () => {
    const { status, body } = await ask("POST", "", { name: " Acme " });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        data: workspaceWith({ name: "Acme" }),
        api_key: ANY_SECRET,
        test_api_key: expect.stringMatching(/^shp_test_/),
      },
    });
    expect(await ask("GET", `/${body.data.id}`)).toEqual(found(body.data));
    const bookIt = () => service.request("/v1/shipments", { apiKey: body.api_key, body: BOOKING });
    expect((await bookIt()).status).toBe(422);
    const provider = { payment_provider: "manual" };
    expect(await ask("PUT", `/${body.data.id}/payment_provider`, provider)).toEqual(
      found({ ...body.data, ...provider }),
    );
    expect((await bookIt()).status).toBe(201);
  });

  test("has its provider at once if one is named, the same by gRPC", async () => {
    const grpc = service.grpcClient(operator.key, WorkspaceAdminService);
    const created = await grpc.createWorkspace({ name: "By gRPC", paymentProvider: "manual" });
    const answer = inDialect(CreateWorkspaceResponseSchema, created);
    expect(answer).toEqual({
      data: workspaceWith({ name: "By gRPC", payment_provider: "manual" }),
      api_key: ANY_SECRET,
      test_api_key: expect.stringMatching(/^shp_test_/),
    });
    expect(await ask("GET", `/${answer.data.id}`)).toEqual(found(answer.data));
  });

  test("is made once, however often its call is repeated with an idempotency key", async () => {
    const headers = { "idempotency-key": "make-it" };
    const first = await ask("POST", "", { name: "Once only" }, headers);
    expect(await ask("POST", "", { name: "Once only" }, headers)).toEqual(first);
    const { body } = await ask("GET", "?name_contains=Once%20only");
    expect(body.data).toEqual([first.body.data]);
    expect(await actionsOn(first.body.data.id)).toHaveLength(1);
  });

  test("is recorded with its operator, and not its secret", async () => {
    const headers = { "x-request-id": "making" };
    const { body } = await ask("POST", "", { name: "A", payment_provider: "manual" }, headers);
    const { id, test_workspace: twin } = body.data;
    const keys = await ask("GET", `/${id}/api_keys`);
    const testKeys = await ask("GET", `/${twin}/api_keys`);
    expect(await auditEntriesOf(service, id)).toEqual([
      {
        actor: "operator",
        actor_name: "Test operator",
        operator_id: operator.id,
        action: "CreateWorkspace",
        subject: `workspace/${id}`,
        changes: [
          { field: "name", before: null, after: "A" },
          { field: "payment_provider", before: null, after: "manual" },
          { field: "api_key", before: null, after: keys.body.data[0].id },
          { field: "test_workspace", before: null, after: String(twin) },
          { field: "test_api_key", before: null, after: testKeys.body.data[0].id },
        ],
        request_id: "making",
      },
    ]);
  });
});

test("workspaces are listed by name, page by page, narrowed by any part of it in any case", async () => {
  const names = [
    "Zürich Ärzte",
    "zürich ärzte 2",
    "100% Zürich",
    "100 Zürich",
    "Zürich_1",
    "Zürich\\1",
  ];
  const same = ["Same Zürich", "Same Zürich", "Same Zürich"];
  for (const name of [...names, ...same]) await add(name);
  const namesOf = async (query: Record<string, string>) => {
    const { status, body } = await ask("GET", `?${new URLSearchParams(query)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data.map(({ name }: { name: string }) => name);
  };
  expect(await namesOf({ name_contains: "ZÜRICH", page_size: "100" })).toEqual(
    [...names, ...same].sort(),
  );
  expect(await namesOf({ name_contains: "zürich ÄRZTE" })).toEqual([
    "Zürich Ärzte",
    "zürich ärzte 2",
  ]);
  expect(await namesOf({ name_contains: "%" })).toEqual(["100% Zürich"]);
  expect(await namesOf({ name_contains: "h_1" })).toEqual(["Zürich_1"]);
  expect(await namesOf({ name_contains: "h\\1" })).toEqual(["Zürich\\1"]);
  expect(await namesOf({ name_contains: "nobody has this" })).toEqual([]);

  const grpc = service.grpcClient(operator.key, WorkspaceAdminService);
  const whole = await grpc.listWorkspaces({ nameContains: "zürich", pageSize: 100 });
  const { data } = inDialect(ListWorkspacesResponseSchema, whole);
  const paged: object[] = [];
  let pageToken = "";
  do {
    const query = { name_contains: "zürich", page_size: "2", page_token: pageToken };
    const { body } = await ask("GET", `?${new URLSearchParams(query)}`);
    paged.push(...body.data);
    pageToken = body.next_page_token;
  } while (pageToken !== "");
  expect(paged).toEqual(data);
});

test("a page token leads on after the longest name that can be", async () => {
  const names = ["\u0001", "🚲", "x"].map((character) => `Long ${character.repeat(195)}`);
  for (const name of names) await add(name);
  let query = "?name_contains=Long&page_size=1";
  const seen: string[] = [];
  for (let page = 0; page < 3; page++) {
    const { status, body } = await ask("GET", query);
    expect(status, JSON.stringify(body)).toBe(200);
    seen.push(body.data[0].name);
    query = `?name_contains=Long&page_size=1&page_token=${body.next_page_token}`;
  }
  expect(seen.sort()).toEqual(names.sort());
});

test("a page token of other filters is refused", async () => {
  for (const name of ["Filtered 1", "Filtered 2"]) await add(name);
  const { body } = await ask("GET", "?name_contains=Filtered&page_size=1");
  const text = "page_token is not the next_page_token of a page with these filters.";
  for (const filters of ["name_contains=filtered", "suspended=false&name_contains=Filtered", ""]) {
    expect(await ask("GET", `?${filters}&page_token=${body.next_page_token}`)).toEqual({
      status: 422,
      body: errorBody(text, "page_token"),
    });
  }
});

test("workspaces are listed by whether they are suspended", async () => {
  const [running, suspended] = [await add("State 1"), await add("State 2")];
  await ask("POST", `/${suspended.id}/suspend`);
  const idsOf = async (query: string) =>
    (await ask("GET", `?name_contains=State&${query}`)).body.data.map(({ id }: any) => id);
  expect(await idsOf("")).toEqual([running.id, suspended.id]);
  expect(await idsOf("suspended=true")).toEqual([suspended.id]);
  expect(await idsOf("suspended=false")).toEqual([running.id]);
});

test("a renamed workspace has its new name everywhere, and the change is recorded once", async () => {
  const { id, apiKey } = await add("Before");
  const renamed = found(workspaceWith({ id, name: "After" }));
  expect(await ask("PATCH", `/${id}`, { name: " After " })).toEqual(renamed);
  expect(await ask("PATCH", `/${id}`, { name: "After" })).toEqual(renamed);
  const own = await service.request("/v1/workspace", { apiKey });
  expect(own.body.data.name).toBe("After");
  expect((await actionsOn(id)).slice(1)).toEqual([
    ["RenameWorkspace", [{ field: "name", before: "Before", after: "After" }]],
  ]);
});

test("connecting or disconnecting a provider twice has the effect of once, and is recorded once", async () => {
  const { id, apiKey } = await add("Paid");
  const path = `/${id}/payment_provider`;
  const connected = found(workspaceWith({ id, name: "Paid", payment_provider: "manual" }));
  const without = found(workspaceWith({ id, name: "Paid" }));
  for (let i = 0; i < 2; i++) {
    expect(await ask("PUT", path, { payment_provider: "manual" })).toEqual(connected);
  }
  expect((await service.request("/v1/shipments", { apiKey, body: BOOKING })).status).toBe(201);
  for (let i = 0; i < 2; i++) expect(await ask("DELETE", path)).toEqual(without);
  expect((await service.request("/v1/shipments", { apiKey, body: BOOKING })).status).toBe(422);
  expect((await actionsOn(id)).slice(1)).toEqual([
    ["ConnectPaymentProvider", [{ field: "payment_provider", before: null, after: "manual" }]],
    ["DisconnectPaymentProvider", [{ field: "payment_provider", before: "manual", after: null }]],
  ]);
});

test("limits that are given are set, the rest stays, and every replica soon applies them", async () => {
  const { id, apiKey } = await add("Limited");
  const limitOn = async (on: TestService) =>
    (await on.request("/v1/workspace", { apiKey })).body.data.limits.quote;
  expect(await limitOn(replica)).toEqual(DEFAULT_LIMITS.quote);
  const path = `/${id}/limits`;
  const limits = { ...DEFAULT_LIMITS, quote: { rate: 7, burst: 14 }, write: { rate: 3, burst: 9 } };
  const changed = found(workspaceWith({ id, name: "Limited", limits }));
  expect(await ask("PATCH", path, { quote: { rate: 7 }, write: { rate: 3, burst: 9 } })).toEqual(
    changed,
  );
  expect(await ask("PATCH", path, { quote: { rate: 7 } })).toEqual(changed);
  expect(await ask("PATCH", path, {})).toEqual(changed);
  await eventually(
    "every replica to apply the limit",
    async () => (await limitOn(service)).rate === 7 && (await limitOn(replica)).rate === 7,
  );
  expect(await ask("PATCH", path, { read: { rate: 1_000_000 } })).toEqual(
    found(
      workspaceWith({
        id,
        name: "Limited",
        limits: { ...limits, read: { rate: 1_000_000, burst: 1_000_000 } },
      }),
    ),
  );
  expect((await actionsOn(id)).slice(1)).toEqual([
    [
      "UpdateWorkspaceLimits",
      [
        {
          field: "limits.quote",
          before: "10000 a second, 20000 at once",
          after: "7 a second, 14 at once",
        },
        {
          field: "limits.write",
          before: "2000 a second, 4000 at once",
          after: "3 a second, 9 at once",
        },
      ],
    ],
    [
      "UpdateWorkspaceLimits",
      [
        {
          field: "limits.read",
          before: "5000 a second, 10000 at once",
          after: "1000000 a second, 1000000 at once",
        },
      ],
    ],
  ]);
});

const CALLS: readonly [name: string, method: string, path: string, body?: object][] = [
  ["get", "GET", ""],
  ["rename", "PATCH", "", { name: "X" }],
  ["suspend", "POST", "/suspend", {}],
  ["resume", "POST", "/resume", {}],
  ["connect a provider of", "PUT", "/payment_provider", { payment_provider: "manual" }],
  ["disconnect a provider of", "DELETE", "/payment_provider"],
  ["limit", "PATCH", "/limits", { quote: { rate: 1 } }],
  ["list keys of", "GET", "/api_keys"],
  ["create a key of", "POST", "/api_keys", { name: "X" }],
  ["rotate keys of", "POST", "/api_keys/rotate", {}],
  ["revoke a key of", "POST", `/api_keys/key_${"0".repeat(24)}/revoke`, {}],
];

test.each(CALLS)("there is no unknown workspace to %s", async (_, method, path, body) => {
  for (const id of ["404404404", "0", "-1", "9007199254740991"]) {
    expect(await ask(method, `/${id}${path}`, body)).toEqual({
      status: 404,
      body: errorBody(`There is no workspace ${id}.`),
    });
  }
});

test("an unknown workspace is NOT_FOUND by gRPC", async () => {
  const grpc = service.grpcClient(operator.key, WorkspaceAdminService);
  expect(await rpcError(grpc.suspendWorkspace({ workspace: 404_404n }))).toEqual(
    rpcRefusal("NotFound", "WORKSPACE_NOT_FOUND", "There is no workspace 404404."),
  );
});

test("requests that break a rule of a field are refused by its name", async () => {
  const { id } = await add("Ruled");
  const cases: [method: string, path: string, body: object, field: string][] = [
    ["POST", "", {}, "name"],
    ["POST", "", { name: "x".repeat(201) }, "name"],
    ["POST", "", { name: "X", payment_provider: "cash" }, "payment_provider"],
    ["POST", "", { name: "Two\nlines" }, "name"],
    ["PATCH", `/${id}`, { name: "Two\rlines" }, "name"],
    ["PATCH", `/${id}`, { name: " " }, "name"],
    ["PUT", `/${id}/payment_provider`, {}, "payment_provider"],
    ["POST", "", { name: "X", time_zone: "Mars/Olympus" }, "time_zone"],
    ["PUT", `/${id}/time_zone`, {}, "time_zone"],
    ["PUT", `/${id}/time_zone`, { time_zone: "+01:00" }, "time_zone"],
    ["PUT", `/${id}/time_zone`, { time_zone: "europe/berlin" }, "time_zone"],
    ["PATCH", `/${id}/limits`, { quote: {} }, "quote.rate"],
    ["PATCH", `/${id}/limits`, { read: { rate: 0 } }, "read.rate"],
    ["PATCH", `/${id}/limits`, { write: { rate: 1, burst: 1_000_001 } }, "write.burst"],
    ["POST", `/${id}/api_keys`, {}, "name"],
    ["POST", `/${id}/api_keys/rotate`, { overlap_seconds: 604_801 }, "overlap_seconds"],
  ];
  for (const [method, path, fields, field] of cases) {
    const { status, body } = await ask(method, path, fields);
    expect([status, Object.keys(body.errors)], `${method} ${path}`).toEqual([422, [field]]);
  }
});

describe("who may call", () => {
  const readOnly = ["listWorkspaces", "getWorkspace", "listWorkspaceApiKeys"];
  const methods = WorkspaceAdminService.methods.map(
    (method) => [method.localName, method] as const,
  );
  const callWith = (apiKey: string, name: string) => {
    const client = service.grpcClient(apiKey, WorkspaceAdminService) as Record<
      string,
      (request: object) => Promise<unknown>
    >;
    return client[name]!({});
  };

  test.each(methods)("%s takes no key of a workspace", async (name) => {
    const { apiKey } = await service.addWorkspace();
    const { code, details } = await rpcError(callWith(apiKey, name));
    expect({ code, details }).toEqual({
      code: "Unauthenticated",
      details: { ErrorInfo: { reason: "CREDENTIAL_REFUSED", domain: "shipments.v1" } },
    });
  });

  test.each(methods)("%s takes the key of a viewer only if it changes nothing", async (name) => {
    const viewer = await service.addOperator("viewer");
    const request = callWith(viewer.key, name);
    if (name === "listWorkspaces") return expect(await request).toHaveProperty("data");
    const { code } = await rpcError(request);
    expect(code).toBe(readOnly.includes(name) ? "InvalidArgument" : "PermissionDenied");
  });

  test("no call of a workspace takes the key of an operator", async () => {
    for (const path of ["/v1/api_keys", "/v1/workspace"]) {
      expect((await service.request(path, { apiKey: operator.key })).status).toBe(401);
    }
    const quote = { apiKey: operator.key, body: COVERED_ROUTE };
    expect((await service.request("/v1/shipments/quote", quote)).status).toBe(401);
  });
});
