import { create, type DescField, type DescMethod } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../gen/shipments/v1/api_key_service_pb.js";
import { enumNames } from "../../src/json/decode-scalar.ts";
import { connectAgent } from "../support/agent.ts";
import { describedMethods, httpCalls } from "../support/described-services.ts";
import { isOfOperators } from "../support/method-calls.ts";
import { PROTOCOLS, rpcClient } from "../support/rpc-client.ts";
import { rpcError } from "../support/rpc-error.ts";
import { sharedService } from "../support/service.ts";
import { take } from "../support/take.ts";

const service = await sharedService();
const { apiKey, twin } = await service.addWorkspace();
const { key: operatorKey } = await service.addOperator();

const METHODS = [...(await describedMethods("workspace")), ...(await describedMethods("operator"))];

interface EnumField {
  readonly method: DescMethod;
  /** Path of fields to the enum, outermost first. */
  readonly fields: readonly DescField[];
}

function enumFields(method: DescMethod, outer: readonly DescField[] = []): EnumField[] {
  const message = outer.at(-1)?.message ?? method.input;
  return message.fields.flatMap((field) => {
    const fields = [...outer, field];
    if (field.enum !== undefined) return [{ method, fields }];
    const isNew = field.message !== undefined && !outer.some((it) => it.message === field.message);
    return isNew ? enumFields(method, fields) : [];
  });
}

const CASES = METHODS.flatMap((method) => enumFields(method)).map(
  (it) => [`${it.method.name}.${pathOf(it)}`, it] as const,
);

function pathOf({ fields }: EnumField): string {
  return fields.map(({ name }) => name).join(".");
}

/** Returns a request with only this field, whose name comes from `nameOf`. */
function requestWith(
  { fields }: EnumField,
  value: unknown,
  nameOf: (field: DescField) => string,
): Record<string, unknown> {
  return fields.reduceRight<unknown>((inner, field) => {
    const one = field.fieldKind === "list" ? [inner] : inner;
    return { [nameOf(field)]: one };
  }, value) as Record<string, unknown>;
}

function keyOf(method: DescMethod): string {
  if (isOfOperators(method)) return operatorKey;
  return method.parent.name === "TestService" ? twin.apiKey : apiKey;
}

/**
 * Calls a method with an enum value. Binary messages contain its number. Other messages contain its
 * name, even if the client does not know the name.
 */
function call(field: EnumField, protocol: keyof typeof PROTOCOLS, value: string, number: number) {
  const { method } = field;
  const json = JSON.stringify(requestWith(field, value, ({ jsonName }) => jsonName));
  const jsonOptions = { textEncoder: { encode: () => new TextEncoder().encode(json) } };
  const client = rpcClient(
    method.parent,
    (urls, options) => PROTOCOLS[protocol](urls, { ...options, jsonOptions }),
    service,
    keyOf(method),
  ) as any;
  const request = create(
    method.input,
    requestWith(field, number, ({ localName }) => localName),
  );
  const response = client[method.localName](request);
  return method.methodKind === "unary" ? response : take(1, response);
}

test("the tests find the enums of requests", () => {
  expect(CASES.map(([name]) => name)).toEqual(
    expect.arrayContaining(["CreateApiKey.scope", "CreateShipment.simulation.scenario"]),
  );
});

describe.each(CASES)("refuses an unknown value of %s", (_, field) => {
  const path = pathOf(field);
  const { values } = field.fields.at(-1)!.enum!;
  const names = values.filter(({ number }) => number !== 0).map(({ name }) => name);

  test.each(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[])("over %s", async (protocol) => {
    const { details } = await rpcError(call(field, protocol, "no_such_name", 999));
    expect(details).toMatchObject({
      ErrorInfo: { reason: "FIELD_INVALID" },
      BadRequest: {
        fieldViolations: expect.arrayContaining([
          { field: path, description: `${path} must be one of ${names.join(", ")}.` },
        ]),
      },
    });
  });

  test("over the JSON API", async () => {
    const spelt = [...enumNames(field.fields.at(-1)!.enum!).values()];
    const inPath = { shipment: "SHP-000000000000", webhook: 1, key: "1", person: 1 };
    const request = requestWith(field, "no_such_name", ({ name }) => name);
    const calls = httpCalls(field.method, { ...inPath, workspace: 1, operator: 1, ...request });
    for (const { method, path: target, body } of calls) {
      const answer = await service.request(target, { apiKey: keyOf(field.method), method, body });
      expect(answer.code).toBe("FIELD_INVALID");
      expect(answer.body.errors[path]).toEqual([`${path} must be one of ${spelt.join(", ")}.`]);
    }
  });
});

test("an agent's tool refuses an unknown enum name", async () => {
  const agent = await connectAgent(service, apiKey);
  const { json, isError } = await agent.call("list_shipments", { status: "no_such_name" });
  const spelt = "pending, awaiting_pickup, in_transit, delivered, cancelled, returned";
  expect([isError, json.errors]).toEqual([true, { status: [`status must be one of ${spelt}.`] }]);
});

test.each(["read_only", "API_KEY_SCOPE_READ_ONLY", 1])("Connect's JSON accepts the scope %s", async (scope) => {
  const path = `/${ApiKeyService.typeName}/CreateApiKey`;
  const { status, body } = await service.request(path, { apiKey, body: { name: "Wall", scope } });
  expect([status, body.data.scope]).toEqual([200, "API_KEY_SCOPE_READ_ONLY"]);
});

test("Connect's JSON refuses a number beyond a double next to an enum name", async () => {
  const path = "/shipments.v1.ShipmentService/CreateShipment";
  const body = '{"weightKg":1e999,"dropoffVerification":"pin"}';
  const { status, body: refused } = await service.request(path, { apiKey, body });
  expect([status, JSON.stringify(refused)]).toEqual([400, expect.stringContaining("weight_kg must be finite.")]);
});
