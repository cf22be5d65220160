import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { REFUSAL_EXAMPLES } from "../../src/openapi/refusal-examples.ts";
import { REFUSAL_STATUS } from "../../src/pipeline/refusal-status.ts";
import { DESCRIPTION } from "../support/api-description.ts";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Every text in the service's own code, with what is filled in as a gap. */
const TEXTS = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => /^(domain|features|pipeline|transport)\/.*\.ts$/.test(path))
  .flatMap((path) => readFileSync(`${SRC}${path}`, "utf8").match(/"[^"\n]+"|`[^`]+`/g) ?? [])
  .map((literal) => literal.slice(1, -1).split(/\$\{[^}]*\}/))
  .filter((parts) => parts.join("").length >= 8);

/** Whether the code has a text that becomes this one when it is filled in. */
function isSaid(message: string): boolean {
  return TEXTS.some((parts) => {
    const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
    return new RegExp(`^${pattern}$`).test(message);
  });
}

describe("the example of a refusal is worded as the code words it:", () => {
  // What the rules of fields and of tariffs say is put together from shorter texts.
  const own = Object.entries(REFUSAL_EXAMPLES).filter(
    ([reason]) => !["FIELD_INVALID", "TARIFF_FAULTY", "CREDENTIAL_REFUSED"].includes(reason),
  );
  test.each(own)("%s", (_, { message }) => {
    expect(isSaid(message)).toBe(true);
  });
});

test("every refusal in the OpenAPI document has the status of its reasons, and their examples", () => {
  const responses = Object.entries<any>(DESCRIPTION.components.responses);
  expect(responses.length).toBeGreaterThan(20);
  for (const [name, { content }] of responses) {
    const [status, ...reasons] = name.replace("Refused", "").split(".");
    expect(reasons.map((reason) => (REFUSAL_STATUS as any)[reason].httpStatus)).toEqual(
      reasons.map(() => Number(status)),
    );
    expect(content["application/json"].examples).toEqual(
      Object.fromEntries(
        reasons.map((reason) => [reason, { value: (REFUSAL_EXAMPLES as any)[reason] }]),
      ),
    );
  }
});
