import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { REASONS } from "../../src/domain/refusal-reasons.ts";
import { DESCRIPTION } from "../support/api-description.ts";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** All string literals in the service's code. Placeholders are gaps. */
const TEXTS = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => /^(domain|features|pipeline|transport)\/.*\.ts$/.test(path))
  .flatMap((path) => readFileSync(`${SRC}${path}`, "utf8").match(/"[^"\n]+"|`[^`]+`/g) ?? [])
  .map((literal) =>
    literal
      .slice(1, -1)
      .replace(/^[a-z_]+: /, "")
      .split(/\$\{[^}]*\}/),
  )
  .filter((parts) => parts.join("").length >= 8);

/** Whether a message is a text in the code with its gaps filled in. */
function isFromCode(message: string): boolean {
  return TEXTS.some((parts) => {
    const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
    return new RegExp(`^${pattern}$`).test(message);
  });
}

const RESPONSES = Object.entries<any>(DESCRIPTION.components.responses);

/** Every message of every reason, without duplicates. */
const EXAMPLES = new Set(
  RESPONSES.flatMap(([, { content }]) =>
    Object.entries<any>(content["application/json"].examples).map(
      ([reason, { value }]) => `${reason}: ${value.message}`,
    ),
  ),
);

const COMPOSED =
  /^(FIELD_INVALID|TARIFF_FAULTY|WINDOW_INVALID|SLOT_FULL|OUTSIDE_HOURS|CUT_OFF_PASSED|TOO_SOON|TOO_FAR_AHEAD):/;

describe("the example of an error has the text of the code:", () => {
  // Excludes messages about fields, tariffs and windows, which are composed of shorter texts.
  const own = [...EXAMPLES].filter((it) => !COMPOSED.test(it));
  test.each(own)("%s", (example) => {
    expect(isFromCode(example.replace(/^\w+: /, ""))).toBe(true);
  });
});

test("every error response in the OpenAPI document has the status of its reasons and an example for each", () => {
  expect(RESPONSES.length).toBeGreaterThan(20);
  for (const [name, { content, description }] of RESPONSES) {
    const { examples } = content["application/json"];
    const reasons = Object.keys(examples);
    const status = Number(/^\w+\.(\d+)$/.exec(name)![1]);
    expect(description).toBe(`Refused: ${reasons.map((reason) => `\`${reason}\``).join(", ")}.`);
    expect(reasons.map((reason) => (REASONS as any)[reason].httpStatus)).toEqual(reasons.map(() => status));
  }
});

test("the field in an example of FIELD_INVALID belongs to the operation or is a header", () => {
  const operations = Object.values<any>(DESCRIPTION.paths).flatMap((it) => Object.values<any>(it));
  expect(operations.length).toBeGreaterThan(80);
  for (const { operationId, parameters, requestBody, responses } of operations) {
    const { examples } = deref(responses["422"]).content["application/json"];
    const { errors } = examples.FIELD_INVALID.value;
    const all = parameters.map(deref).map((it: any) => it.name.toLowerCase().replaceAll("-", "_"));
    const body = deref(requestBody?.content["application/json"]?.schema ?? {});
    const fields = [...all, ...Object.keys(body.properties ?? {})];
    const [[name, [text]]] = Object.entries<any>(errors) as [[string, [string]]];
    if (!text.includes("is not a query parameter")) expect(fields, operationId).toContain(name);
    else expect(["x_request_id", "connect_timeout_ms", "simulate"]).toEqual(expect.arrayContaining(fields));
  }
});

test("operations that accept only keys do not document errors for sessions", () => {
  for (const [path, operations] of Object.entries<any>(DESCRIPTION.paths)) {
    if (path.startsWith("/account/")) continue;
    for (const { responses } of Object.values<any>(operations)) {
      const reasons = responses["403"] && deref(responses["403"]).content["application/json"];
      const ofSessions = ["CROSS_SITE", "NOT_A_MEMBER", "NOT_AN_OPERATOR"];
      expect(Object.keys(reasons?.examples ?? {})).not.toEqual(expect.arrayContaining([expect.toBeOneOf(ofSessions)]));
    }
  }
});

/** Resolves an object's `$ref`, if it has one. */
function deref(object: any): any {
  const path: string[] = object.$ref?.slice(2).split("/") ?? [];
  return path.length === 0 ? object : path.reduce((part, name) => part[name], DESCRIPTION);
}
