import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { validate as validateWithParser } from "@apidevtools/swagger-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { success_status } from "../../gen/shipments/v1/options_pb.js";
import { EVENT_TYPES } from "../../src/domain/shipment/event-type.ts";
import { parseAnswer } from "../docs/answers.ts";
import { createCheckedCalls, DESCRIPTION } from "../support/api-description.ts";
import { describedMethods } from "../support/described-services.ts";

test("Redocly's linter accepts the OpenAPI document", () => {
  const { status, stdout, stderr } = spawnSync(
    "node_modules/.bin/redocly",
    ["lint", "--format=json", "gen/openapi/openapi.json"],
    {
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      encoding: "utf8",
    },
  );
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout).problems).toEqual([]);
});

test("the OpenAPI document is valid under the schema of OpenAPI 3.1", async () => {
  expect(await new Validator().validate(structuredClone(DESCRIPTION))).toEqual({ valid: true });
});

test("every reference in the OpenAPI document resolves", async () => {
  const parsed = await validateWithParser(structuredClone(DESCRIPTION));
  expect(parsed).toMatchObject({ openapi: "3.1.1" });
});

test("the OpenAPI document has exactly the paths of all services, with their success statuses", async () => {
  const audiences = await Promise.all((["workspace", "operator", "person"] as const).map(describedMethods));
  const served = audiences.flat().flatMap((method) => {
    if (!hasOption(method, http)) return [];
    const rule = getOption(method, http);
    const status = hasOption(method, success_status) ? getOption(method, success_status) : 200;
    return [rule, ...rule.additionalBindings].map(({ pattern }) => `${pattern.case} ${pattern.value} ${status}`);
  });
  const described = Object.entries<any>(DESCRIPTION.paths).flatMap(([path, operations]) =>
    Object.entries<any>(operations).map(([httpMethod, { responses }]) => {
      const [status] = Object.keys(responses).filter((it) => it.startsWith("2"));
      return `${httpMethod} ${path} ${status}`;
    }),
  );
  expect(described.toSorted()).toEqual(served.toSorted());
});

test("the example of every request is valid under its schema", () => {
  const { assertFollows } = createCheckedCalls();
  const locations = Object.entries<any>(DESCRIPTION.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ["paths", path, method, "requestBody", "content"]),
  );
  const examples = locations.flatMap((location) => {
    const [, path, method] = location as [string, string, string];
    const json = DESCRIPTION.paths[path][method].requestBody?.content["application/json"];
    return json === undefined ? [] : [{ location, example: json.example }];
  });
  expect(examples.length).toBeGreaterThan(25);
  for (const { location, example } of examples) {
    assertFollows(example, ...location, "application/json", "schema");
  }
});

test("every property and parameter of the OpenAPI document has a description", () => {
  const descriptions: string[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { type, properties, parameters } = value as any;
    const described = [
      ...(type === "object" ? Object.entries<any>(properties ?? {}) : []),
      ...(Array.isArray(parameters) ? parameters.map((it) => [it.name, it.$ref ?? it]) : []),
    ];
    for (const [name, it] of described) {
      descriptions.push(`${path}/${name}: ${typeof it === "string" ? it : it.description}`);
    }
    for (const [name, it] of Object.entries(value)) {
      if (!/^examples?$/.test(name)) look(it, `${path}/${name}`);
    }
  };
  look(DESCRIPTION, "");
  expect(descriptions.length).toBeGreaterThan(700);
  expect(descriptions.filter((it) => /: (undefined|)$/.test(it))).toEqual([]);
});

test("no name in the OpenAPI document is too long for a type name", () => {
  const named = Object.values<any>(DESCRIPTION.components).flatMap((it) => Object.keys(it));
  expect(named.length).toBeGreaterThan(250);
  expect(named.filter((name) => name.length >= 40)).toEqual([]);
});

test("the OpenAPI document has every event type, and the guide's example has every field of an event", () => {
  const { properties } = DESCRIPTION.components.schemas.Event;
  expect(properties.type.enum).toEqual(EVENT_TYPES);
  expect(Object.keys(DESCRIPTION.webhooks)).toEqual(EVENT_TYPES);
  const guide = readFileSync(new URL("../../src/docs/events.md", import.meta.url), "utf8");
  const [, example] = /```json answer\n(\{\n {2}"data": \{\n {4}"id": "evt_[^`]+)```/.exec(guide)!;
  const { data } = parseAnswer(example!) as { data: object };
  expect(Object.keys(data)).toEqual(Object.keys(properties));
});
