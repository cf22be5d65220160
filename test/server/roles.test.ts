import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { OperatorRole } from "../../gen/shipments/admin/v1/operator_pb.js";
import { minimum_role } from "../../gen/shipments/admin/v1/options_pb.js";
import { for_couriers } from "../../gen/shipments/v1/options_pb.js";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { OPERATOR_ROLES, type OperatorRole as Role } from "../../src/domain/roles.ts";
import { createSecretKey } from "../../src/domain/secret-key.ts";
import { describedMethods, httpCalls, pathFields } from "../support/described-services.ts";
import { errorBody } from "../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../support/rpc-error.ts";
import { sharedService } from "../support/service.ts";
import { take } from "../support/take.ts";

const ADMIN = await describedMethods("operator");
const OF_WORKSPACES = await describedMethods("workspace");

const service = await sharedService();
const keys = await Promise.all(
  OPERATOR_ROLES.map(async (role) => [role, (await service.addOperator(role)).key] as const),
);
const keyOf = Object.fromEntries(keys) as Record<Role, string>;
const { apiKey: workspaceKey, twin } = await service.addWorkspace();
const body = { name: "Reports", scope: "read_only" };
const made = await service.request("/v1/api_keys", { apiKey: workspaceKey, body });
const readOnlyKey = made.body.api_key;
const madeInTwin = await service.request("/v1/api_keys", {
  apiKey: twin.apiKey,
  body: { name: "Reads", scope: "read_only" },
});
/** Read-only key of the test twin. The test service is available only in test mode. */
const readOnlyTestKey = madeInTwin.body.api_key;

/** Reads the role that a method requires from its descriptor, independently of the service. */
function neededRole(method: DescMethod): Role {
  if (hasOption(method, minimum_role)) {
    return OperatorRole[getOption(method, minimum_role)].toLowerCase() as Role;
  }
  const reads = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  return reads ? "viewer" : "operator";
}

/** Returns nonexistent ids for a method's path fields. */
function unknownIds(method: DescMethod): Record<string, string> {
  return Object.fromEntries(pathFields(method).map((name) => [name, "999999999"]));
}

const named = (methods: readonly DescMethod[]) =>
  methods.map((method) => [`${method.parent.name}/${method.name}`, method] as const);

/** Calls a method on every path over JSON. Returns the responses without values that differ between calls. */
async function byJson(method: DescMethod, apiKey: string | undefined) {
  const answers = httpCalls(method, unknownIds(method)).map(async (call) => {
    const { status, headers, text, body } = await service.request(call.path, {
      ...(apiKey === undefined ? {} : { apiKey }),
      method: call.method,
      body: call.body,
      headers: { "x-request-id": "the-same" },
    });
    const steady = [...headers].filter(([name]) => name !== "date");
    return { status, headers: steady, text, body };
  });
  return Promise.all(answers);
}

/** Calls a method over gRPC and returns the error. */
function byGrpc(method: DescMethod, apiKey: string) {
  const client = service.grpcClient(apiKey, method.parent) as unknown as Record<string, (request: object) => any>;
  const answer = client[method.localName]!({});
  return rpcError(method.methodKind === "unary" ? answer : take(1, answer));
}

/** Returns a key's responses from a method over JSON and gRPC. Streams have no JSON path. */
async function answersTo(method: DescMethod, apiKey: string) {
  const isUnary = method.methodKind === "unary";
  return {
    json: isUnary ? await byJson(method, apiKey) : [],
    grpc: await byGrpc(method, apiKey),
  };
}

async function expectUnauthenticated(method: DescMethod, apiKey: string, message: string) {
  const { json, grpc } = await answersTo(method, apiKey);
  const refused = json.map(() => ({ status: 401, body: errorBody(message) }));
  expect(json.map(({ status, body }) => ({ status, body }))).toEqual(refused);
  expect(grpc).toEqual(rpcRefusal("Unauthenticated", "CREDENTIAL_REFUSED", message));
}

describe("an admin method", () => {
  const cases = ADMIN.flatMap((method) => {
    const needed = neededRole(method);
    const below = OPERATOR_ROLES.slice(0, OPERATOR_ROLES.indexOf(needed));
    return below.map((role) => [method.name, role, needed, method] as const);
  });
  test.each(cases)("%s refuses %s and requires %s", async (name, role, needed, method) => {
    const message = `${name} requires the role ${needed}. Your role is ${role}.`;
    const { json, grpc } = await answersTo(method, keyOf[role]);
    expect(json.length).toBeGreaterThan(0);
    for (const { status, body } of json) {
      expect({ status, body }).toEqual({ status: 403, body: errorBody(message) });
    }
    expect(grpc).toEqual(rpcRefusal("PermissionDenied", "ROLE_INSUFFICIENT", message));
  });

  test.each(named(ADMIN))("%s accepts the required role", async (_, method) => {
    for (const { status } of await byJson(method, keyOf[neededRole(method)])) {
      expect([401, 403, 500]).not.toContain(status);
    }
  });
});

describe("an admin method refuses a workspace's key, valid or not, and names the required credential", () => {
  const message =
    "The credential is a workspace key, but this call requires an operator key. Send the operator's key as Authorization: Bearer sho_... or X-Api-Key: sho_....";
  test.each(named(ADMIN))("%s", async (_, method) => {
    for (const key of [workspaceKey, createSecretKey("shp_")]) {
      await expectUnauthenticated(method, key, message);
    }
  });
});

const writes = (method: DescMethod) =>
  method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS && !/Quote/.test(method.name);

describe("a read-only workspace key", () => {
  test.each(named(OF_WORKSPACES.filter(writes)))("cannot call %s", async (_, method) => {
    const needed = getOption(method, for_couriers) ? "courier or full" : "full";
    const message = `${method.name} requires a key with the scope ${needed}. Your key has the scope read_only.`;
    const { json, grpc } = await answersTo(method, readOnlyKey);
    expect(json.length).toBeGreaterThan(0);
    for (const { status, body } of json) {
      expect({ status, body }).toEqual({ status: 403, body: errorBody(message) });
    }
    expect(grpc).toEqual(rpcRefusal("PermissionDenied", "SCOPE_INSUFFICIENT", message));
  });

  test.each(named(OF_WORKSPACES.filter((method) => !writes(method))))("may call %s", async (_, method) => {
    if (method.methodKind !== "unary") {
      const client = service.grpcClient(readOnlyKey, EventService);
      expect(await take(1, client.watchEvents({ fromNow: true }))).toHaveLength(1);
      return;
    }
    const isOfTests = method.parent.name === "TestService";
    const key = isOfTests ? readOnlyTestKey : readOnlyKey;
    for (const { status } of await byJson(method, key)) {
      expect([401, 403, 500]).not.toContain(status);
    }
  });
});

describe("a courier workspace key", async () => {
  const courier = { name: "Fleet", scope: "courier" };
  const { body: own } = await service.request("/v1/api_keys", {
    apiKey: workspaceKey,
    body: courier,
  });
  const allowed = OF_WORKSPACES.filter((method) => getOption(method, for_couriers));

  test("can call only the methods that couriers use", () => {
    expect(allowed.map(({ name }) => name)).toEqual([
      "GetShipment",
      "AdvanceShipment",
      "ReturnShipment",
      "SetCourier",
      "RemoveCourier",
      "ReportProgress",
      "RecordAttempt",
      "ReportPlaces",
      "RecordProof",
      "BatchAdvanceShipments",
      "AssignCourier",
      "BatchRemoveCouriers",
    ]);
  });

  test.each(named(OF_WORKSPACES))("is allowed or refused to call %s", async (_, method) => {
    const { json, grpc } = await answersTo(method, own.api_key);
    if (allowed.includes(method)) {
      for (const { status } of json) expect([401, 403, 500]).not.toContain(status);
      return;
    }
    const needed = writes(method) ? "full" : "read_only or full";
    const message = `${method.name} requires a key with the scope ${needed}. Your key has the scope courier.`;
    for (const { status, body } of json) {
      expect({ status, body }).toEqual({ status: 403, body: errorBody(message) });
    }
    expect(grpc).toEqual(rpcRefusal("PermissionDenied", "SCOPE_INSUFFICIENT", message));
  });
});

describe("a workspace method refuses an operator's key, valid or not, and names the required credential", () => {
  const message =
    "The credential is an operator key, but this call requires a workspace key. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....";
  test.each(named(OF_WORKSPACES))("%s", async (_, method) => {
    for (const key of [keyOf.owner, createSecretKey("sho_")]) {
      await expectUnauthenticated(method, key, message);
    }
  });
});

describe("an admin method without a key names the required credential", () => {
  const message =
    "The credential is missing. Send the operator's key as Authorization: Bearer sho_... or X-Api-Key: sho_....";
  test.each(named(ADMIN))("%s", async (_, method) => {
    for (const { status, body } of await byJson(method, undefined)) {
      expect({ status, body }).toEqual({ status: 401, body: errorBody(message) });
    }
  });
});
