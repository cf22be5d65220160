import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCheckedCalls, DESCRIPTION } from "../support/api-description.ts";
import { arbitraryOf, resolved } from "../support/arbitrary-of-schema.ts";
import { signIn } from "../support/browser.ts";
import { sharedService } from "../support/service.ts";

const service = await sharedService();
const workspaceKey = (await service.addWorkspace()).apiKey;
const operatorKey = (await service.addOperator()).key;
const person = await signIn(service, workspaceKey, { email: "ada@example.org", role: "admin" });

const checked = createCheckedCalls();

/** Returns arbitrary parameters by name and an arbitrary body that conform to the document. */
function arbitraryRequest({ parameters, requestBody }: any) {
  const inUrl = parameters.map(resolved).filter((it: any) => it.in !== "header");
  const values = Object.fromEntries(
    inUrl.map(({ name, in: where, required, schema }: any) => {
      const value =
        where === "path" && schema.type === "string" ? fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/) : arbitraryOf(schema);
      return [name, required ? value : fc.option(value, { nil: undefined })];
    }),
  );
  const schema = requestBody?.content["application/json"]?.schema;
  const body = schema === undefined ? fc.constant(undefined) : arbitraryOf(schema);
  return fc.record({ values: fc.record(values), body });
}

/** Fills a path template. Other parameters become the query. */
function pathOf(template: string, values: Readonly<Record<string, any>>): string {
  const rest = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (template.includes(`{${name}}`) || value === undefined) continue;
    for (const each of [value].flat()) rest.append(name, String(each));
  }
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]));
  return rest.size === 0 ? path : `${path}?${rest}`;
}

const operations = Object.entries<any>(DESCRIPTION.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe("responses to requests generated from the OpenAPI document match it and are never 500", () => {
  test.each(operations)("$operation.operationId", async ({ path, method, operation }) => {
    await fc.assert(
      fc.asyncProperty(arbitraryRequest(operation), async ({ values, body }) => {
        const isAccount = path.startsWith("/account/");
        const apiKey = path.startsWith("/admin/") ? operatorKey : workspaceKey;
        const { status, text } = await checked.call(isAccount ? person : service, pathOf(path, values), {
          method: method.toUpperCase(),
          body,
          ...(isAccount ? {} : { apiKey }),
        });
        expect(status, text).not.toBe(500);
      }),
      { numRuns: 3 },
    );
  });
});
