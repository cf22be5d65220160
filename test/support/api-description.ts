import { readFileSync } from "node:fs";
import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { Answer, RequestOptions } from "./client.ts";
import type { Endpoints } from "./endpoints.ts";

/** The committed OpenAPI document. */
export const DESCRIPTION = JSON.parse(readFileSync("gen/openapi/openapi.json", "utf8"));

/** Returns a method's example body from the document. Empty for a method without a body. */
export function exampleBody(method: DescMethod): Readonly<Record<string, unknown>> {
  if (!hasOption(method, http)) return {};
  const { case: verb, value: path } = getOption(method, http).pattern;
  const { requestBody } = DESCRIPTION.paths[path as string][verb as string];
  return requestBody?.content["application/json"]?.example ?? {};
}

/** Options for a request whose body may deliberately violate the document. */
export interface CheckedOptions extends RequestOptions {
  readonly mayBreakRules?: boolean;
}

/** Calls that are validated against the OpenAPI document. */
export interface CheckedCalls {
  /**
   * Sends a request. Asserts that the path is documented, that the body conforms unless it may violate the document,
   * and that the response's status, headers and body conform without additional fields.
   */
  call(endpoints: Pick<Endpoints, "request">, path: string, options?: CheckedOptions): Promise<Answer>;
  /** Operations called so far with the returned status, such as `getShipment 404`. */
  readonly seen: ReadonlySet<string>;
  /** Asserts that a value conforms to the schema at a path of the document. */
  assertFollows(value: unknown, ...location: readonly string[]): void;
}

/** Creates calls that are validated against the document. */
export function createCheckedCalls(): CheckedCalls {
  const validatorAt = createValidators();
  const seen = new Set<string>();

  function assertFollows(value: unknown, ...location: readonly string[]): void {
    const validate = validatorAt(location);
    expect(validate(value) ? [] : validate.errors, `${location.join(" ")}: ${JSON.stringify(value)}`).toEqual([]);
  }

  return {
    seen,
    assertFollows,
    async call(endpoints, path, options = {}) {
      const method = (options.method ?? (options.body === undefined ? "GET" : "POST")).toLowerCase();
      const operationLocation = ["paths", templateOf(path), method];
      const operation = at(operationLocation);
      const answer = await endpoints.request(path, options);
      const { status, headers } = answer;
      const content = [...operationLocation, "requestBody", "content", "application/json", "schema"];
      if (options.body !== undefined && typeof options.body === "object" && !options.mayBreakRules) {
        if (operation.requestBody !== undefined) assertFollows(options.body, ...content);
        else expect(options.body, `${method} ${path} has no body`).toEqual({});
      }

      expect(operation.responses, `${method} ${path}: ${answer.text}`).toHaveProperty(String(status));
      const location = targetOf([...operationLocation, "responses", String(status)]);
      const response = at(location);
      for (const name of Object.keys(response.headers)) {
        const headerLocation = targetOf([...location, "headers", name]);
        const value = headers.get(name);
        if (at(headerLocation).required) expect(value, name).not.toBeNull();
        if (value !== null) assertFollows(value, ...headerLocation, "schema");
      }
      const type = headers.get("content-type");
      if (response.content === undefined) expect(answer.text).toBe("");
      else {
        expect(Object.keys(response.content)).toEqual([type]);
        const value = type!.includes("json") ? JSON.parse(answer.text) : answer.text;
        assertFollows(value, ...location, "content", type!, "schema");
      }
      seen.add(`${operation.operationId} ${status}`);
      return answer;
    },
  };
}

/** Compiles validators for schemas in the document. They reject additional properties. */
function createValidators(): (location: readonly string[]) => ValidateFunction {
  const closed = structuredClone(DESCRIPTION);
  for (const schema of Object.values<any>(closed.components.schemas)) {
    if (schema.properties !== undefined) schema.additionalProperties ??= false;
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: true, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(closed, "document", false, false);
  const compiled = new Map<string, ValidateFunction>();
  return (location) => {
    const pointer = location.map((it) => encodeURIComponent(it.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `document#/${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };
}

/** Returns the path template with the fewest variables that matches a path. */
function templateOf(path: string): string {
  const [pure] = path.split("?");
  const variables = (template: string) => template.split("{").length;
  const found = Object.keys(DESCRIPTION.paths)
    .filter((it) => new RegExp(`^${it.replace(/\{\w+\}/g, "[^/]+")}$`).test(pure!))
    .toSorted((a, b) => variables(a) - variables(b))[0];
  expect(found, `the document has no path ${path}`).toBeDefined();
  return found!;
}

/** Resolves a `$ref` at a location in the document. */
function targetOf(location: readonly string[]): readonly string[] {
  const reference: string | undefined = at(location).$ref;
  return reference === undefined ? location : reference.slice(2).split("/");
}

function at(location: readonly string[]): any {
  return location.reduce((part, name) => part?.[name], DESCRIPTION);
}
